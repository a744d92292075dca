import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

import { expect, it } from 'vitest';

import { buildAgent } from '../../agent/build.ts';

const run = promisify(execFile);

it('HTTP is loaded without fetch', async () => {
  const file = pathToFileURL(join(import.meta.dirname, '../../agent/node-http.ts')).href;
  const code = `await import(${JSON.stringify(file)}); console.log(process.moduleLoadList.join('\\n'))`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', code]);
  expect(stdout).toContain('_http_client');
  expect(stdout).not.toContain('undici');
});

it('no other file of the agent imports it by value', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'ropewalk-agent-'));
  try {
    const bundle = join(directory, 'agent.mjs');
    await buildAgent(bundle);
    expect(await readFile(bundle, 'utf8')).not.toMatch(/from "node:https?"/);
  } finally {
    await rm(directory, { recursive: true });
  }
});
