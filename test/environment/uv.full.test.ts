// uv is installed only with the pinned hash: other bytes of an index under its name are never run.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, expect, it } from 'vitest';

import { toolEnvironment } from '../../agent/runtimes/environment/run-tool.ts';
import { ensureUv, uvVersion } from '../../agent/runtimes/environment/uv.ts';

const wheel = `uv-${uvVersion}-py3-none-any.whl`;
const program = `import sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as archive:
    name = "uv-${uvVersion}.dist-info"
    archive.writestr(f"uv-${uvVersion}.data/scripts/uv", "#!/bin/sh\\ntouch was-run\\n")
    archive.writestr(f"{name}/METADATA", "Metadata-Version: 2.1\\nName: uv\\nVersion: ${uvVersion}\\n")
    archive.writestr(f"{name}/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    archive.writestr(f"{name}/RECORD", "")
`;

let scratch: string;
let index: Server;
beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'ropewalk-uv-'));
  await promisify(execFile)('python3', ['-c', program, join(scratch, wheel)]);
  const bytes = await readFile(join(scratch, wheel));
  index = createServer((request, response) => {
    if (request.url === '/simple/uv/')
      response.setHeader('content-type', 'text/html').end(`<a href="/${wheel}">${wheel}</a>`);
    else if (request.url === `/${wheel}`) response.end(bytes);
    else response.writeHead(404).end();
  }).listen(0, '127.0.0.1');
  await once(index, 'listening');
});
afterAll(async () => {
  index.close();
  await rm(scratch, { recursive: true, force: true });
});

const cacheIn = (name: string): string => join(scratch, name);

it('from an index with another wheel is refused by its hash', async () => {
  const address = index.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const cacheDir = cacheIn('other');
  const own = { ...process.env, PIP_INDEX_URL: `http://127.0.0.1:${port}/simple` };
  const tools = { user: null, environment: toolEnvironment(own, scratch), cacheDir: scratch, signal: undefined };
  await expect(ensureUv({ ...tools, cacheDir }, 'python3')).rejects.toThrow(/THESE PACKAGES DO NOT MATCH THE HASHES/);
  await expect(access(join(cacheDir, 'tools', `uv-${uvVersion}`))).rejects.toThrow('ENOENT');
});

it('from the index of this machine is the one that was pinned', async () => {
  const cacheDir = cacheIn('pinned');
  const tools = { user: null, environment: toolEnvironment(process.env, cacheDir), cacheDir, signal: undefined };
  const uv = await ensureUv(tools, 'python3');
  const { stdout } = await promisify(execFile)(uv, ['--version']);
  expect(stdout).toContain(`uv ${uvVersion}`);
});
