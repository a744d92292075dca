// A real registry of images for tests: CNCF Distribution on a free port of loopback, which requires a user and a password.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';

export interface ImageRegistry {
  /** host:port, as in the name of an image. */
  host: string;
  user: string;
  password: string;
  stop(): Promise<void>;
}

/** Debian's package docker-registry, if installed. */
export const hasImageRegistry = (): Promise<boolean> =>
  promisify(execFile)(program, ['--version']).then(
    () => true,
    () => false,
  );

const program = 'docker-registry';
const user = 'ada';
const password = 'secret-of-the-registry';
/** The password with bcrypt, four rounds. */
const passwordHash = '$2b$04$X1lEZyE3TeCPXm4wCI.qoeSfVj0ASWCW/BJ1sZ0Q2XQJW9h9cUFUW';

export async function startImageRegistry(): Promise<ImageRegistry> {
  const directory = await mkdtemp(join(tmpdir(), 'ropewalk-registry-'));
  const host = `127.0.0.1:${await freePort()}`;
  const users = join(directory, 'users');
  await writeFile(users, `${user}:${passwordHash}\n`);
  const configuration = {
    version: 0.1,
    log: { level: 'error' },
    storage: { filesystem: { rootdirectory: join(directory, 'data') } },
    http: { addr: host },
    auth: { htpasswd: { realm: 'test', path: users } },
  };
  // JSON is YAML.
  await writeFile(join(directory, 'config.yml'), JSON.stringify(configuration));
  const server = spawn(program, ['serve', join(directory, 'config.yml')], { stdio: 'ignore' });
  const exited = once(server, 'exit');
  await eventually(async () => (await fetch(`http://${host}/v2/`)).status === 401);
  return {
    host,
    user,
    password,
    stop: async () => {
      server.kill('SIGKILL');
      await exited;
      await rm(directory, { recursive: true });
    },
  };
}
