// Keys of a deployment in AWS Secrets Manager, emulated by moto: the permission to read them, the error of a wrong secret, and
// that processes with the secret of another deployment do not start.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { CreateAccessKeyCommand, CreateUserCommand, IAMClient, PutUserPolicyCommand } from '@aws-sdk/client-iam';
import { CreateSecretCommand, DeleteSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';

import { RopewalkError } from '../../../domain/errors.ts';
import { openDatabase } from '../../../ops/database.ts';
import { checkKeys } from '../../../ops/doctor/keys.ts';
import { loadHost } from '../../../ops/host.ts';
import { createKeys } from '../../../platform/keys.ts';
import { loadKeysSecret } from '../../../platform/keys-secret.ts';
import { openKeys } from '../../../platform/open-keys.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { makeHome, node24, removeHome } from '../../support/stack.ts';
import { startMoto, type Moto } from './moto.ts';

const repository = fileURLToPath(new URL('../../..', import.meta.url));
const region = 'eu-central-1';
const root = { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'secret' };

let moto: Moto;
let home = '';
let homes: string[] = [];
beforeAll(async () => {
  moto = await startMoto();
});
afterAll(() => moto?.stop());
beforeEach(async () => {
  home = await newHome();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const each of homes) await removeHome(each);
  homes = [];
});

async function newHome(): Promise<string> {
  const made = await makeHome();
  homes.push(made);
  return made;
}

const clientOf = (credentials = root): SecretsManagerClient =>
  new SecretsManagerClient({ region, endpoint: moto.url, credentials, maxAttempts: 1 });

let secrets = 0;
async function createSecret(value: { SecretString: string } | { SecretBinary: Uint8Array }): Promise<string> {
  const Name = `ropewalk/keys-${(secrets += 1)}`;
  const { ARN = '' } = await clientOf().send(new CreateSecretCommand({ Name, ...value }));
  return ARN;
}

/** The text of the keys of another deployment, and a part of it that no output may contain. */
async function newKeys(): Promise<{ text: string; master: string }> {
  const path = join(await newHome(), 'keys.json');
  await createKeys(path);
  const text = await readFile(path, 'utf8');
  const { current, keys } = JSON.parse(text);
  return { text, master: keys[current] };
}

async function refusal(reading: Promise<unknown>): Promise<{ code: string; text: string }> {
  const error: unknown = await reading.then(
    () => null,
    (error: unknown) => error,
  );
  if (!(error instanceof RopewalkError)) throw new Error('it was not refused in words', { cause: error });
  return { code: error.problem.code, text: `${error.problem.message} ${error.problem.hint}` };
}

describe('keys in a secret', () => {
  it('are those of the key file whose text it holds', async () => {
    const { text } = await newKeys();
    await writeFile(join(home, 'keys.json'), text, { mode: 0o600 });
    const fromFile = await openKeys({ home, keysSecret: null });
    const fromSecret = await loadKeysSecret(await createSecret({ SecretString: text }), clientOf());
    expect(fromSecret.current).toEqual(fromFile.current);
  });

  it('are refused with the ARN where it holds something else, which no message repeats', async () => {
    const short = Buffer.alloc(16, 7).toString('base64');
    const values = [
      { SecretString: 'hunter2hunter2' },
      { SecretString: JSON.stringify({ current: 'k1', keys: { k1: short } }) },
      { SecretString: JSON.stringify({ username: 'hunter2hunter2' }) },
      { SecretBinary: Buffer.from('hunter2hunter2') },
    ];
    for (const value of values) {
      const arn = await createSecret(value);
      const { code, text } = await refusal(loadKeysSecret(arn, clientOf()));
      expect([code, text]).toEqual(['VALIDATION', expect.stringContaining(`The secret ${arn} is damaged: it `)]);
      expect(text).not.toMatch(new RegExp(`hunter2|${short}`));
    }
  });

  it('are missing where there is no such secret, and where it is scheduled for deletion', async () => {
    const arn = await createSecret({ SecretString: (await newKeys()).text });
    await clientOf().send(new DeleteSecretCommand({ SecretId: arn }));
    for (const each of [arn, `${arn}0`]) {
      const { code, text } = await refusal(loadKeysSecret(each, clientOf()));
      expect([code, text]).toEqual(['NOT_FOUND', expect.stringContaining(each)]);
    }
  });

  it('are refused without the permission, which ops/aws/keys-secret.json grants', async () => {
    const arn = await createSecret({ SecretString: (await newKeys()).text });
    // Moto decides by the action alone, and would refuse every policy that names a secret.
    const text = await readFile(join(repository, 'ops/aws/keys-secret.json'), 'utf8');
    const policy = text.replace('arn:aws:secretsmanager:*:*:secret:NAME', '*');
    const may = await createUser('may', policy);
    const mayNot = await createUser('may-not', null);
    await enforceIam(true);
    try {
      const { code, text } = await refusal(loadKeysSecret(arn, clientOf(mayNot)));
      expect([code, text]).toEqual(['FORBIDDEN', expect.stringContaining(arn)]);
      expect(text).toMatch(/secretsmanager:GetSecretValue.*ops\/aws\/keys-secret\.json/);
      expect((await loadKeysSecret(arn, clientOf(may))).current.kid).toMatch(/^k/);
      const stranger = { accessKeyId: 'AKIAIOSFODNN7STRANGE', secretAccessKey: 'x' };
      expect((await refusal(loadKeysSecret(arn, clientOf(stranger)))).code).toBe('FORBIDDEN');
    } finally {
      await enforceIam(false);
    }
  });
});

async function createUser(UserName: string, policy: string | null): Promise<typeof root> {
  const iam = new IAMClient({ region: 'us-east-1', endpoint: moto.url, credentials: root });
  await iam.send(new CreateUserCommand({ UserName }));
  if (policy !== null) {
    await iam.send(new PutUserPolicyCommand({ UserName, PolicyName: 'keys', PolicyDocument: policy }));
  }
  const { AccessKey } = await iam.send(new CreateAccessKeyCommand({ UserName }));
  iam.destroy();
  return { accessKeyId: AccessKey?.AccessKeyId ?? '', secretAccessKey: AccessKey?.SecretAccessKey ?? '' };
}

/** From the next request on, moto requires credentials and policies. */
async function enforceIam(isOn: boolean): Promise<void> {
  const answer = await fetch(`${moto.url}/moto-api/reset-auth`, { method: 'POST', body: isOn ? '0' : 'Infinity' });
  expect(answer.ok).toBe(true);
}

describe('an API with its keys in a secret', () => {
  const environment = (arn: string) => ({
    ...{ PATH: process.env['PATH'] ?? '', HOME: home, ROPEWALK_HOME: home, ROPEWALK_HOST_ID: 'host_1' },
    ...{ ROPEWALK_KEYS_SECRET: arn, AWS_ENDPOINT_URL_SECRETS_MANAGER: moto.url, ROPEWALK_PROVIDERS: 'local' },
    ...{ AWS_ACCESS_KEY_ID: root.accessKeyId, AWS_SECRET_ACCESS_KEY: root.secretAccessKey },
  });

  /** Waits until it answers or ends. */
  async function startApi(arn: string): Promise<{ exitCode: number | null; output: string }> {
    const port = await freePort();
    const env = { ...environment(arn), ROPEWALK_PORT: String(port), TEMPORAL_ADDRESS: '127.0.0.1:1' };
    const child = spawn(node24, ['api/server.ts'], { cwd: repository, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += String(chunk)));
    const ended = once(child, 'close');
    await eventually(
      async () => child.exitCode !== null || (await fetch(`http://127.0.0.1:${port}/readyz`)).status === 200,
    );
    const { exitCode } = child;
    child.kill('SIGTERM');
    await ended;
    return { exitCode, output };
  }

  it('starts, and does not start with the secret of another deployment', async () => {
    const [own, foreign] = [await newKeys(), await newKeys()];
    const arn = await createSecret({ SecretString: own.text });
    const { store } = await openDatabase({ env: {}, home, host: await loadHost(home) });
    await store.close();
    const started = await startApi(arn);
    expect([started.exitCode, started.output]).toEqual([null, expect.any(String)]);
    expect(await readdir(home)).not.toContain('keys.json');

    const refused = await startApi(await createSecret({ SecretString: foreign.text }));
    expect([refused.exitCode, refused.output]).toEqual([
      1,
      expect.stringMatching(/keys of this process are not those/),
    ]);
    for (const { output } of [started, refused]) expect(output).not.toMatch(secretParts(own, foreign));

    const unknown = await startApi(`${arn}0`);
    expect([unknown.exitCode, unknown.output]).toEqual([2, expect.stringContaining(`There is no secret ${arn}0`)]);
  });

  it('is examined by doctor, which names the secret and never its content', async () => {
    const keys = await newKeys();
    const arn = await createSecret({ SecretString: keys.text });
    for (const [name, value] of Object.entries(environment(arn))) vi.stubEnv(name, value);
    const found = await checkKeys({ env: environment(arn), home });
    expect(found).toMatchObject([{ check: 'keys', state: 'ok', text: expect.stringContaining(arn) }]);
    expect(JSON.stringify(found)).not.toContain(keys.master);
    expect(await checkKeys({ env: { ROPEWALK_KEYS_SECRET: 'my-keys' }, home })).toMatchObject([
      { state: 'broken', text: 'ROPEWALK_KEYS_SECRET must be the ARN of a secret in AWS Secrets Manager.' },
    ]);
    expect(await checkKeys({ env: {}, home })).toEqual([]);
  });
});

const secretParts = (...keys: { master: string }[]): RegExp =>
  new RegExp(keys.map(({ master }) => master.replace(/[+/=]/g, '\\$&')).join('|'));
