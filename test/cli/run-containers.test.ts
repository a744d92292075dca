// The container fields that `ropewalk batch run` sends.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { openStandIn, token } from '../sdk/open-stand-in.ts';
import { callCli } from './call-cli.ts';
import type { CallOptions } from './call-cli.ts';
import { withDirectory } from './run-cli.ts';
import type { CliResult } from './run-cli.ts';

async function submit(words: string[], options: CallOptions): Promise<CliResult & { body: unknown }> {
  const created = { number: 12, name: 'job-12', existing: false, warnings: [] };
  const api = await openStandIn(() => ({ status: 201, json: created }));
  const env = { ROPEWALK_API_URL: api.url, ROPEWALK_TOKEN: token };
  const result = await callCli(['batch', 'run', ...words], { ...options, env });
  return { ...result, body: api.requests[0]?.body };
}

it('sends where the tasks run, with credentials of the registry and no other entry of the file', async () => {
  await withDirectory(async (cwd) => {
    const auths = { 'https://ghcr.io/': { auth: 'YTpi', email: 'a@b' }, 'quay.io': {} };
    await writeFile(join(cwd, 'config.json'), JSON.stringify({ auths, credsStore: 'x' }));
    const flags = ['--container', 'ghcr.io/me/x:1', '--ignore-container-entrypoint', 'true'];
    const { body } = await submit([...flags, '--registry-auth', 'config.json', 'true'], { cwd });
    expect(body).toEqual({
      command: ['true'],
      container: 'ghcr.io/me/x:1',
      ignoreContainerEntrypoint: true,
      registryAuth: { 'ghcr.io': { auth: 'YTpi' } },
    });
    expect((await submit(['--run-on-host', 'true', 'true'], { cwd })).body).toMatchObject({ runOnHost: true });
    await writeFile(join(cwd, 'empty.json'), '{"credsStore": "desktop"}');
    const refused = await submit(['--container', 'x', '--registry-auth', 'empty.json', 'true'], { cwd });
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('has no credentials')]);
  });
});
