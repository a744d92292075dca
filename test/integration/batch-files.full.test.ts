// Files in and out of batch jobs, with real agents and the command line: on a directory, and on a real S3 server behind a network
// that stalls while an agent or the command line is killed in the middle of a transfer.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { eventually } from '../support/eventually.ts';
import { agentPids } from '../support/kills.ts';
import { findS3Server, startS3Server, type S3Server } from '../support/s3-server.ts';
import { node24 } from '../support/stack.ts';
import { describeFiles, numberIn, prepare, type Setup } from './batch-files.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));
const s3 = await findS3Server();
if ('missing' in s3) console.log(`Files in a bucket are not tested. ${s3.missing}`);

describe('files of batch jobs, in a directory', () => {
  let setup: Setup;
  beforeAll(async () => {
    setup = await prepare({});
  });
  afterAll(async () => {
    await setup?.stack.stop();
    await rm(setup?.place ?? '', { recursive: true, force: true });
  });
  describeFiles(() => setup);
});

describe.runIf('program' in s3)('files of batch jobs, in a bucket', () => {
  let server: S3Server;
  let network: Awaited<ReturnType<typeof startNetwork>>;
  let setup: Setup;
  beforeAll(async () => {
    server = await startS3Server('program' in s3 ? s3.program : '');
    network = await startNetwork(server.endpoint);
    setup = await prepare({
      ROPEWALK_OBJECTS: `s3://${await server.createBucket()}/files?endpoint=${network.url}&pathStyle=true`,
      AWS_ACCESS_KEY_ID: server.credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: server.credentials.secretAccessKey,
    });
  });
  afterAll(async () => {
    await setup?.stack.stop();
    await rm(setup?.place ?? '', { recursive: true, force: true });
    network?.server.close();
    await server?.stop();
  });
  describeFiles(() => setup);

  const leaveBig = ['sh', '-c', 'head -c 30000000 /dev/zero > big; echo small > small'];

  it('shows no file of a task whose agent is killed during the transfer, and all of them after the next attempt', async () => {
    const { stack, cli, filesOf } = setup;
    const run = await cli('batch', 'run', '--download', 'later', '--retries', '1', ...leaveBig);
    const number = numberIn(run);
    network.stallAfter(5_000_000);
    await eventually(() => network.stalled() > 0);
    expect(await filesOf(number)).toEqual([]);
    for (const pid of agentPids(stack.home).values()) process.kill(pid, 'SIGKILL');
    network.stallAfter(null);
    const waited = await cli('batch', 'wait', String(number), '--download', 'later');
    expect([waited.code, waited.stderr]).toEqual([0, expect.stringContaining('Downloaded 2 files')]);
    expect((await readFile(join(setup.place, 'later', 'big'))).equals(Buffer.alloc(30_000_000))).toBe(true);
  });

  it('leaves no half file when the command line is killed during a download, and completes it afterwards', async () => {
    const { stack, place, cli } = setup;
    const run = await cli('batch', 'run', '--wait', '--pipe-to-files', ...leaveBig);
    const number = String(numberIn(run));
    network.stallAfter(5_000_000);
    const env = {
      PATH: process.env['PATH'] ?? '',
      HOME: place,
      ROPEWALK_API_URL: stack.apiUrl,
      ROPEWALK_TOKEN: stack.token,
    };
    const words = [join(repository, 'cli', 'main.ts'), 'batch', 'files', number, '--download', 'cut'];
    const child = spawn(node24, words, { cwd: place, env, stdio: 'ignore' });
    await eventually(() => network.stalled() > 0);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect((await readdir(join(place, 'cut'))).filter((name) => !name.startsWith('.ropewalk-'))).not.toContain('big');
    network.stallAfter(null);
    expect((await cli('batch', 'files', number, '--download', 'cut')).code).toBe(0);
    expect((await readFile(join(place, 'cut', 'big'))).length).toBe(30_000_000);
  });

  it('sends no content through the API', async () => {
    const { stack, place, cli } = setup;
    await writeFile(join(place, 'program.bin'), Buffer.alloc(11 * 1_048_576, 7));
    await chmod(join(place, 'program.bin'), 0o755);
    const run = await cli(
      'batch',
      'run',
      '--wait',
      '--upload',
      'program.bin',
      '--download',
      'back',
      'sh',
      '-c',
      'test -x program.bin && cp program.bin copy',
    );
    expect([run.code, run.stderr]).toEqual([0, expect.any(String)]);
    const copy = (await setup.filesOf(numberIn(run))).find(({ path }) => path === 'copy');
    const direct = await fetch(`${stack.apiUrl}/v1/file-blobs/${copy?.sha256}`, {
      headers: { authorization: `Bearer ${stack.token}` },
    });
    expect([direct.status, (await direct.json()).error.message]).toEqual([
      409,
      expect.stringContaining('go to its bucket'),
    ]);
    expect(await readdir(stack.home)).not.toContain('objects');
  });
});

/** A network before the S3 server: each connection can be made to stop after this many bytes in one direction. */
async function startNetwork(endpoint: string) {
  const { port } = new URL(endpoint);
  let limit: number | null = null;
  let stalled = 0;
  const server: Server = createServer((near) => {
    const far = connect(Number(port), '127.0.0.1');
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      let bytes = 0;
      from.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (limit !== null && bytes > limit) {
          stalled += 1;
          from.pause();
          return;
        }
        if (!to.write(chunk)) {
          from.pause();
          to.once('drain', () => from.resume());
        }
      });
      from
        .on('end', () => to.end())
        .on('error', () => to.destroy())
        .on('close', () => to.destroy());
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    server,
    stalled: () => stalled,
    /** Null: nothing stalls any more; both ends must abandon the stalled connections. */
    stallAfter: (bytes: number | null): void => {
      limit = bytes;
      stalled = 0;
    },
  };
}
