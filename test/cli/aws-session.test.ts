// `batch run --forward-aws-credentials`: the real SDK of AWS with the emulated STS, and a job with a session as secret variables.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, it } from 'vitest';

import { type Emulator, startEmulator } from '../emulator/emulator.ts';
import { type CliResult, runCli, withDirectory } from './run-cli.ts';
import { standIn } from './stand-in.ts';

const key = { AWS_ACCESS_KEY_ID: 'AKIACANARY', AWS_SECRET_ACCESS_KEY: 'canary-secret' };

let emulator: Emulator;
beforeAll(async () => {
  emulator = await startEmulator();
});
afterAll(() => emulator?.stop());

async function submit(
  words: string[],
  env: Record<string, string>,
  cwd?: string,
): Promise<CliResult & { body: Record<string, unknown> | undefined }> {
  const created = { number: 12, name: 'job-12', existing: false, warnings: [] };
  const { api, env: address } = await standIn(() => ({ status: 201, json: created }));
  const aws = { AWS_ENDPOINT_URL_STS: emulator.url, AWS_EC2_METADATA_DISABLED: 'true', HOME: '/nonexistent' };
  const result = await runCli(['batch', 'run', ...words], {
    env: { ...aws, ...address, ...env },
    ...(cwd !== undefined && { cwd }),
  });
  return { ...result, body: api.requests[0]?.body as Record<string, unknown> | undefined };
}

it('sends a session of STS as secret variables, never the key, and notes until when it lives', async () => {
  const { code, stdout, stderr, body } = await submit(
    ['--forward-aws-credentials', '--secret-env', 'A=b', 'echo', 'hi'],
    key,
  );
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'Job 12 (job-12) submitted\n' });
  expect(body).toEqual({
    command: ['echo', 'hi'],
    secretEnv: {
      A: 'b',
      AWS_ACCESS_KEY_ID: expect.stringMatching(/^ASIA/),
      AWS_SECRET_ACCESS_KEY: expect.stringMatching(/^session-secret-/),
      AWS_SESSION_TOKEN: expect.stringMatching(/^session-token-/),
      AWS_CREDENTIAL_EXPIRATION: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    },
  });
  expect(stderr).toMatch(/note: The tasks have AWS credentials of this machine until \d{4}-\d\d-\d\d \d\d:\d\d UTC\./);
  expect(JSON.stringify(body) + stderr).not.toContain('canary-secret');
});

it('is an option of scripts too, and sends a session of this machine as it is', async () => {
  await withDirectory(async (cwd) => {
    await writeFile(join(cwd, 'a.sh'), '# ROPEWALK forward-aws-credentials\necho hi\n');
    const { body } = await submit(['a.sh'], { ...key, AWS_SESSION_TOKEN: 'own-token' }, cwd);
    expect(body?.['secretEnv']).toEqual({ ...key, AWS_SESSION_TOKEN: 'own-token' });
    expect(body?.['clientOptions']).toEqual(['forward-aws-credentials']);
  });
});

it.each([
  [{}, [], 'the AWS credentials of this machine cannot be used', 1],
  [key, ['--env', 'AWS_ACCESS_KEY_ID=x'], 'and the variable AWS_ACCESS_KEY_ID both give credentials', 2],
])('submits nothing without credentials of one origin', async (env, words, text, exitCode) => {
  const { code, stderr, body } = await submit(['--forward-aws-credentials', ...words, 'true'], env);
  expect(stderr).toContain(text);
  expect({ code, body }).toEqual({ code: exitCode, body: undefined });
});
