// The walk of an operator with a new AWS account, by the commands of docs/aws.md and docs/operations.md: setup, first start, doctor, a
// second host, a Dask client outside, destroy. Hosts are empty directories; machines boot from their user data. Run in a network of
// its own by operators-walk.full.test.ts; its error says which step failed.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { CreateSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';

import { buildProduction } from '../../ops/build.ts';
import { controlPlanePolicy } from '../../providers/aws/setup/policies.ts';
import { binFile, runCli } from '../cli/run-cli.ts';
import { startMoto } from '../emulator/cross/moto.ts';
import { startEmulator } from '../emulator/emulator.ts';
import { findPostgres, startPostgres } from '../store/postgres-server.ts';
import { bootedMachines, sharedEnvironments, startNodeMirror, systemPath } from '../support/booted-machines.ts';
import { eventually } from '../support/eventually.ts';
import { findS3Server, startS3Server } from '../support/s3-server.ts';
import { node24 } from '../support/stack.ts';
import { startTemporalProcess } from '../support/temporal-process.ts';

const repository = join(import.meta.dirname, '../..');
/** An address of this network that is not loopback: the API's. */
const [apiAddress = ''] = process.argv.slice(2);
const ended: (() => unknown)[] = [];
const until = <T extends { stop(): unknown } | { close(): unknown }>(service: T): T => {
  ended.unshift(() => ('stop' in service ? service.stop() : service.close()));
  return service;
};
const step = (text: string): void => void process.stdout.write(`${text}\n`);

/** Computes, and says who computed. */
const daskClient = `import getpass
from distributed import Client
with Client(timeout=5) as client:
    print(client.submit(sum, [1, 2, 3]).result(), client.submit(getpass.getuser).result())
`;

async function walk(): Promise<void> {
  const scratch = await mkdtemp('/dev/shm/ropewalk-walk-');
  ended.push(() => rm(scratch, { recursive: true, force: true }));
  // What the operator has: an account, PostgreSQL, Temporal, a bucket, and the checkout.
  const [postgres, s3] = [await findPostgres(), await findS3Server()];
  const database = until(await startPostgres('directory' in postgres ? postgres.directory : ''));
  const bucket = until(await startS3Server('program' in s3 ? s3.program : ''));
  const temporal = until(await startTemporalProcess({ namespaces: [] }));
  const mirror = until(await startNodeMirror());
  const secrets = until(await startMoto());
  const cloud = until(await startEmulator({ machines: bootedMachines(join(scratch, 'machines')) }));
  const { agent, workflows } = await buildProduction(join(scratch, 'dist'));
  const { accessKeyId, secretAccessKey } = bucket.credentials;
  const account = {
    ...{ PATH: `${join(node24, '..')}:${systemPath}`, AWS_ENDPOINT_URL: cloud.url },
    ...{ AWS_ENDPOINT_URL_SECRETS_MANAGER: secrets.url, AWS_SECRET_ACCESS_KEY: secretAccessKey },
  };
  const ropewalk = async (words: string[], env: Record<string, string>, code = 0): Promise<string> => {
    const result = await runCli(words, { env, argv: [node24, binFile] });
    assert.equal(result.code, code, `ropewalk ${words.join(' ')}\n${result.stdout}\n${result.stderr}`);
    return code === 0 ? result.stdout : result.stderr;
  };
  const home = async (name: string): Promise<string> => {
    await mkdir(join(scratch, name), { mode: 0o700 });
    return join(scratch, name);
  };

  step('ropewalk setup aws, on an empty home, with the policy set-up.json alone');
  const first = await home('first');
  const setUpPolicy = await readFile(join(repository, 'ops/aws/set-up.json'), 'utf8');
  await cloud.send({ op: 'permit', accessKeyId: 'AKIAOPERATOR', policies: [setUpPolicy] });
  const operator = {
    ...{ ...account, AWS_ACCESS_KEY_ID: 'AKIAOPERATOR', ROPEWALK_HOME: first, HOME: first },
    ROPEWALK_NODE_MIRROR: mirror.url,
  };
  const made = await ropewalk(['setup', 'aws', '--yes'], operator);
  assert.match(made, new RegExp(`next: Set ROPEWALK_AWS_SETTINGS=${first}/aws.json`));
  const { deploymentId } = JSON.parse(await readFile(join(first, 'host.json'), 'utf8'));
  const controlPlane = await controlPlanePolicy({ account: '123456789012', role: 'ropewalk', deploymentId });
  await cloud.send({ op: 'permit', accessKeyId, policies: [controlPlane] });

  step('ropewalk init --admin');
  const apiUrl = `http://${apiAddress}:7280`;
  const settings = {
    ...{ ...account, AWS_ACCESS_KEY_ID: accessKeyId },
    ...{ TEMPORAL_ADDRESS: temporal.address, ROPEWALK_DATABASE_URL: await database.createDatabase() },
    ROPEWALK_OBJECTS: `s3://${await bucket.createBucket()}/ropewalk?endpoint=${bucket.endpoint}&pathStyle=true`,
    ...{ ROPEWALK_API_URL: apiUrl, ROPEWALK_PUBLIC_URL: apiUrl, ROPEWALK_LISTEN: apiAddress, ROPEWALK_PORT: '7280' },
    ...{ ROPEWALK_AGENT_BUNDLE: agent, ROPEWALK_WORKFLOW_BUNDLE: workflows, ROPEWALK_LOG_LEVEL: 'warn' },
    ROPEWALK_AWS_IDENTITY_KEYS: join(scratch, 'identity.json'),
  };
  // Of the emulated AWS, which does not have AWS's own keys.
  await writeFile(settings.ROPEWALK_AWS_IDENTITY_KEYS, JSON.stringify({ 'us-east-1': await cloud.identityKey() }));
  const host = (directory: string, id: string): Record<string, string> => ({
    ...{ ...settings, ROPEWALK_HOME: directory, HOME: directory, ROPEWALK_HOST_ID: id },
    ROPEWALK_AWS_SETTINGS: join(directory, 'aws.json'),
  });
  const a = host(first, 'host_a');
  const token = (await eventually(() => ropewalk(['init', '--admin', 'ada'], a))).trim();
  assert.match(token, /^rw_default_/);

  step('the keys as a secret of AWS Secrets Manager');
  const secretsManager = new SecretsManagerClient({
    ...{ region: 'us-east-1', endpoint: secrets.url, credentials: bucket.credentials },
  });
  const SecretString = await readFile(join(first, 'keys.json'), 'utf8');
  const { ARN = '' } = await secretsManager.send(new CreateSecretCommand({ Name: 'ropewalk/keys', SecretString }));
  secretsManager.destroy();
  await rm(join(first, 'keys.json'));
  const withKeys = (env: Record<string, string>): Record<string, string> => ({ ...env, ROPEWALK_KEYS_SECRET: ARN });

  step('npm run api, npm run worker, ropewalk doctor');
  const endFirst = await startHost(withKeys(a), apiUrl);
  const asked = { ...withKeys(a), ROPEWALK_TOKEN: token };
  // Until the Temporal worker polls its queues.
  const healthy = await eventually(() => ropewalk(['doctor', '--format', 'json'], asked), { timeoutMs: 120_000 });
  // A new account has 5 vCPUs; and no proxy ends TLS before this API.
  assert.deepEqual(notOk(healthy), ['aws quotas us-east-1: warning', 'api: warning']);

  step('a second host that shares bucket, keys secret, database and Temporal; the first one is lost with its disk');
  const second = await home('second');
  for (const name of ['host.json', 'aws.json']) await copyFile(join(first, name), join(second, name));
  const b = withKeys(host(second, 'host_b'));
  await endFirst();
  await rm(first, { recursive: true });
  ended.unshift(await startHost(b, apiUrl));

  step('a Dask client outside connects and computes');
  const laptop = await home('laptop');
  await symlink(sharedEnvironments, join(laptop, 'cache'));
  const user = {
    PATH: account.PATH,
    ROPEWALK_HOME: laptop,
    HOME: laptop,
    ROPEWALK_API_URL: apiUrl,
    ROPEWALK_TOKEN: token,
  };
  const create = (...words: string[]) =>
    ropewalk(['cluster', 'create', '--wait', '--workers', '1', '--worker-vm-type', 'm6i.large', ...words], user);
  const client = join(laptop, 'client.py');
  await writeFile(client, daskClient);
  const compute = (name: string, code = 0) => ropewalk(['cluster', 'exec', name, '--', 'python3', client], user, code);
  await create('--name', 'open');
  assert.equal((await compute('open')).trim(), '6 ropewalk');

  step('... and is refused when the ingress rule excludes it');
  await create('--name', 'closed', '--allow-ingress-from', '203.0.113.7');
  assert.match(await compute('closed', 1), /Timed out trying to connect to tls:\/\/127\.78\.[\d.]+:8786/);

  step('ropewalk destroy --by-tag, then ropewalk setup aws --remove: the account is as it was');
  assert.equal((await cloud.ledger()).live.length, 4);
  await ropewalk(['destroy', '--by-tag', '--yes'], b);
  assert.deepEqual((await cloud.ledger()).live, []);
  const remover = { ...operator, ROPEWALK_HOME: second, HOME: second };
  const remove = () => ropewalk(['setup', 'aws', '--remove', '--yes'], remover);
  assert.match(await remove(), /delete vpc ropewalk [^]*removed \d+ resources/);
  assert.match(await remove(), /removed 0 resources/);
  assert.deepEqual(await cloud.resources(), []);
}

/** Checks that are not ok. */
function notOk(json: string): string[] {
  const findings: { check: string; state: string }[] = JSON.parse(json);
  return findings.filter(({ state }) => state !== 'ok').map(({ check, state }) => `${check}: ${state}`);
}

/** What `npm run api` and `npm run worker` start. Answers how they are killed. */
async function startHost(env: Record<string, string>, apiUrl: string): Promise<() => Promise<void>> {
  const { scripts } = JSON.parse(await readFile(join(repository, 'package.json'), 'utf8'));
  let said = '';
  const start = (script: string): ChildProcess => {
    const child = spawn('sh', ['-c', `exec ${script}`], { cwd: repository, env, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
    return child;
  };
  const children = [start(scripts.api), start(scripts.worker)];
  const isUp = async (): Promise<boolean | 'ended'> => {
    if (children.some(({ exitCode }) => exitCode !== null)) return 'ended';
    return (await fetch(`${apiUrl}/readyz`)).ok;
  };
  assert.equal(await eventually(isUp, { timeoutMs: 120_000 }), true, said);
  return async () => {
    const exits = children.map((child) => once(child, 'exit'));
    for (const child of children) child.kill('SIGKILL');
    await Promise.all(exits);
  };
}

try {
  await walk();
} finally {
  for (const end of ended) await end();
}
process.exit(0);
