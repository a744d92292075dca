// Writes docs/openapi.json; a test checks that it is what the routes say. Run by `npm run openapi`.
import { writeFile } from 'node:fs/promises';

import { buildDocument } from './openapi.ts';

const target = new URL('../docs/openapi.json', import.meta.url);
await writeFile(target, `${JSON.stringify(buildDocument(), null, 2)}\n`);
