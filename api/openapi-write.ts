// Writes docs/openapi.json; a test checks that it matches the routes. Run by `npm run openapi`.
import { writeFile } from 'node:fs/promises';

import { apiDocument } from './openapi.ts';

const target = new URL('../docs/openapi.json', import.meta.url);
await writeFile(target, `${JSON.stringify(apiDocument(), null, 2)}\n`);
