// Node's HTTP client without its fetch. An `import` of node:http reads every export of the module, one of which loads
// undici: 40 ms of CPU for each agent that starts, and memory that is copied for each command that it starts.
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

// eslint-disable-next-line typescript/no-unsafe-type-assertion -- the name of the module is in the same line
const http = require('node:http') as typeof import('node:http');
// eslint-disable-next-line typescript/no-unsafe-type-assertion -- the name of the module is in the same line
const https = require('node:https') as typeof import('node:https');

export const { Agent: HttpAgent, request: requestHttp } = http;
export const { Agent: HttpsAgent, request: requestHttps } = https;
