// A real S3 server for tests: versitygw over a temporary directory, on a free port of loopback. It is built once through the Go
// module proxy and cached, because no package registry of the tests has it as a binary.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';

import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';

export interface S3Server {
  endpoint: string;
  /** Of the server's owner, who has every right. */
  credentials: S3Credentials;
  client: S3Client;
  /** Creates an empty bucket and returns its name. */
  createBucket(): Promise<string>;
  /** A user without any right. */
  createUser(): Promise<S3Credentials>;
  /** Ends the process, as a crash does, and starts it again on the same port and data. */
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface S3Credentials {
  accessKeyId: string;
  secretAccessKey: string;
}

const version = '1.8.0';
const region = 'us-east-1';
const run = promisify(execFile);

/** The path of the program, or a sentence with the reason why it is missing. The first build takes a minute or two. */
export async function findS3Server(): Promise<{ program: string } | { missing: string }> {
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  const directory = join(cache, 'ropewalk', `versitygw-${version}`);
  const program = join(directory, 'versitygw');
  if (await isFile(program)) return { program };
  const go = await run('go', ['version']).catch(() => null);
  if (go === null) return { missing: 'versitygw, an S3 server, is built with Go, which is not installed.' };
  await mkdir(directory, { recursive: true });
  const build = ['install', `github.com/versity/versitygw/cmd/versitygw@v${version}`];
  try {
    await run('go', build, { env: { ...process.env, GOBIN: directory }, timeout: 600_000 });
  } catch (error) {
    return { missing: `versitygw, an S3 server, cannot be built: ${error instanceof Error ? error.message : ''}` };
  }
  return { program };
}

export async function startS3Server(program: string): Promise<S3Server> {
  const root = await mkdtemp(join(tmpdir(), 'ropewalk-s3-'));
  const [data, users] = [join(root, 'data'), join(root, 'users')];
  await Promise.all([mkdir(data), mkdir(users)]);
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const credentials = { accessKeyId: 'owner', secretAccessKey: 'secret-of-the-test-server' };
  const client = new S3Client({ region, endpoint, credentials, forcePathStyle: true });
  const { PATH = '' } = process.env;
  const env = { PATH, ROOT_ACCESS_KEY: credentials.accessKeyId, ROOT_SECRET_KEY: credentials.secretAccessKey };
  let end: (() => Promise<void>) | null = null;
  const start = async (): Promise<void> => {
    const server = spawn(program, ['--port', `127.0.0.1:${port}`, '--iam-dir', users, '--quiet', 'posix', data], {
      env,
      stdio: 'ignore',
    });
    const exited = once(server, 'exit');
    end = async () => {
      server.kill('SIGKILL');
      await exited;
    };
    await eventually(() => fetch(endpoint).then(() => true));
  };
  await start();
  let buckets = 0;
  return {
    endpoint,
    credentials,
    client,
    createBucket: async () => {
      const bucket = `bucket-${(buckets += 1)}`;
      await client.send(new CreateBucketCommand({ Bucket: bucket }));
      return bucket;
    },
    createUser: async () => {
      const user = { accessKeyId: 'someone', secretAccessKey: 'secret-of-someone' };
      const admin = ['--access', credentials.accessKeyId, '--secret', credentials.secretAccessKey];
      const who = ['--access', user.accessKeyId, '--secret', user.secretAccessKey, '--role', 'user'];
      await run(program, ['admin', ...admin, '--endpoint-url', endpoint, 'create-user', ...who]);
      return user;
    },
    kill: async () => end?.(),
    start,
    stop: async () => {
      await end?.();
      client.destroy();
      await rm(root, { recursive: true });
    },
  };
}

const isFile = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
