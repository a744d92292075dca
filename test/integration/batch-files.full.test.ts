// Files in and out of batch jobs, with real agents and the command line: on a directory, on the emulated Cloud Storage, and on a real S3 server behind a network
// that stalls while an agent or the command line is killed in the middle of a transfer.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import { checkObjects } from '../../ops/doctor/objects.ts';
import { createClient, type ListedFile } from '../../sdk/client.ts';
import { type CliResult, runCli } from '../cli/run-cli.ts';
import { startGcpEmulator, type GcpEmulator } from '../emulator/gcp/emulator.ts';
import { eventually } from '../support/eventually.ts';
import { agentPids } from '../support/kills.ts';
import { findS3Server, startS3Server, type S3Server } from '../support/s3-server.ts';
import { node24, startStack, type TestStack } from '../support/stack.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));
const s3 = await findS3Server();
if ('missing' in s3) console.log(`Files in a bucket are not tested. ${s3.missing}`);

const hostile = ['with space', 'quote\'"$(x)', 'ümläut', '-rf', 'dots..', '\u202eright'];
/** Every byte, so that what is decoded on the way shows. */
const everyByte = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));

interface Setup {
  stack: TestStack;
  place: string;
  cli: (...words: string[]) => Promise<CliResult>;
  filesOf: (job: number) => Promise<ListedFile[]>;
}

async function prepare(env: Record<string, string>): Promise<Setup> {
  const stack = await startStack({ env });
  const place = await mkdtemp(join(tmpdir(), 'ropewalk-files-'));
  const cli = (...words: string[]) =>
    runCli(words, { cwd: place, env: { HOME: place, ROPEWALK_API_URL: stack.apiUrl, ROPEWALK_TOKEN: stack.token } });
  const filesOf = async (job: number): Promise<ListedFile[]> => {
    const files: ListedFile[] = [];
    for await (const file of createClient(stack).jobs.files(job)) files.push(file);
    return files;
  };
  return { stack, place, cli, filesOf };
}

const numberIn = ({ stdout, stderr }: CliResult): number => Number(/Job (\d+)/.exec(stdout + stderr)?.[1]);

/** What every place for files does. */
function describeFiles(setup: () => Setup): void {
  it('brings files to tasks and back, byte-exact, and keeps what differs between tasks apart', async () => {
    const { place, cli, filesOf } = setup();
    const data = join(place, 'data');
    await mkdir(join(data, 'sub'), { recursive: true });
    await writeFile(join(data, 'sub', 'in.bin'), everyByte);
    await writeFile(join(data, 'unchanged'), 'unchanged');
    await writeFile(join(data, 'changed'), 'before');
    for (const name of hostile) await writeFile(join(data, name), name);
    await writeFile(
      join(place, 'work.sh'),
      `#!/bin/sh
# ROPEWALK pipe-to-files
id=$ROPEWALK_BATCH_TASK_ID
cat sub/in.bin
echo "to stderr $id" >&2
mkdir -p out/deep
cp sub/in.bin "out/deep/$id.bin"
echo "of task $id" > same.txt
echo same > equal.txt
echo after > changed
for each in *; do [ -f "$each" ] && cp -- "$each" "out/$each"; done
printf newline > "$(printf 'line\\nbreak\\\\')"
printf x > "$(printf 'not-utf8-\\377')"
ln -s /etc/passwd link
ln -s / linked-directory
chmod 000 equal.txt
exit 0
`,
    );
    const result = await cli('batch', 'run', '--ntasks', '2', '--wait', '--sync', 'data', './work.sh');
    expect([result.code, result.stderr]).toEqual([0, expect.stringContaining('Downloaded')]);
    const read = (path: string) => readFile(join(data, path));
    const textOf = (path: string) => readFile(join(data, path), 'utf8');
    for (const id of [0, 1]) {
      expect(await read(`out/deep/${id}.bin`)).toEqual(everyByte);
      expect(await read(`task-${id}.out`)).toEqual(everyByte);
      expect(await textOf(`task-${id}.err`)).toBe(`to stderr ${id}\n`);
      expect(await textOf(`task-${id}/same.txt`)).toBe(`of task ${id}\n`);
    }
    expect([await textOf('changed'), await textOf('equal.txt')]).toEqual(['after\n', 'same\n']);
    for (const name of hostile) expect(await textOf(`out/${name}`)).toBe(name);
    expect(await textOf('line\nbreak\\')).toBe('newline');
    const number = numberIn(result);
    const paths = (await filesOf(number)).map(({ path }) => path);
    for (const absent of ['unchanged', 'link', 'linked-directory', 'sub/in.bin', 'work.sh'])
      expect(paths).not.toContain(absent);
    const logs = await cli('batch', 'logs', String(number));
    expect(logs.stdout).toContain('"link" is not stored: it is a symbolic link.');
    expect(logs.stdout).toContain('its name is not UTF-8');
    const listed = await cli('batch', 'files', String(number));
    expect(listed.stdout).toContain('out/deep/0.bin');
    expect(listed.stdout).not.toContain('\u202e');
  });

  it('uploads what is too large to go with the job, and hands files on from filestore to filestore', async () => {
    const { place, cli, filesOf } = setup();
    const big = Buffer.alloc(12 * 1_048_576, 'ropewalk');
    await writeFile(join(place, 'big.bin'), big);
    const first = ['--upload', 'big.bin', '--output-filestore', 'stage-1', '--ntasks', '2', '--wait'];
    const made = await cli('batch', 'run', ...first, 'sh', '-c', 'wc -c < big.bin > "size-$ROPEWALK_BATCH_TASK_ID"');
    expect([made.code, made.stderr]).toEqual([0, expect.any(String)]);
    expect((await filesOf(numberIn(made))).map(({ path }) => path).toSorted()).toEqual(['size-0', 'size-1']);
    const second = ['--input-filestore', 'stage-1', '--download', 'sum', '--wait'];
    const summed = await cli('batch', 'run', ...second, 'sh', '-c', 'cat size-0 size-1 > total');
    expect([summed.code, summed.stderr]).toEqual([0, expect.any(String)]);
    expect(await readFile(join(place, 'sum', 'total'), 'utf8')).toBe(`${big.length}\n${big.length}\n`);
    expect(await readdir(join(place, 'sum'))).toEqual(['total']);
    const unknown = await cli('batch', 'wait', String(numberIn(summed)), '--download', 'again');
    expect([unknown.code, await readFile(join(place, 'again', 'total'), 'utf8')]).toEqual([
      0,
      `${big.length}\n${big.length}\n`,
    ]);
  });

  it('does not write outside of the directory of --download', async () => {
    const { place, cli } = setup();
    const outside = join(place, 'outside');
    await mkdir(outside);
    await mkdir(join(place, 'trap'));
    await symlink(outside, join(place, 'trap', 'dir'));
    await symlink(join(outside, 'target'), join(place, 'trap', 'file'));
    const script = 'mkdir dir; echo x > dir/inner';
    const trapped = await cli('batch', 'run', '--wait', '--download', 'trap', 'sh', '-c', script);
    expect([trapped.code === 0, trapped.stderr]).toEqual([false, expect.stringContaining('would lie outside')]);
    const replaced = await cli('batch', 'run', '--wait', '--download', 'trap', 'sh', '-c', 'echo new > file');
    expect([replaced.code, replaced.stderr]).toEqual([0, expect.any(String)]);
    expect(await readdir(outside)).toEqual([]);
    expect(await readFile(join(place, 'trap', 'file'), 'utf8')).toBe('new\n');
    expect(await readlink(join(place, 'trap', 'dir'))).toBe(outside);
  });
}

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

describe('files of batch jobs, in a bucket of Cloud Storage', () => {
  const bucket = 'ropewalk-files';
  let emulator: GcpEmulator;
  let env: Record<string, string>;
  let setup: Setup;
  beforeAll(async () => {
    emulator = await startGcpEmulator();
    await emulator.tell({ op: 'bucket', name: bucket });
    await emulator.tell({ op: 'permit', permissions: await objectStorePermissions() });
    const ROPEWALK_OBJECTS = `gs://${bucket}/files?endpoint=${emulator.url}`;
    env = { ROPEWALK_OBJECTS, GCE_METADATA_HOST: new URL(emulator.url).host };
    setup = await prepare(env);
  });
  afterAll(async () => {
    await setup?.stack.stop();
    await rm(setup?.place ?? '', { recursive: true, force: true });
    await emulator?.stop();
  });
  describeFiles(() => setup);

  it('holds every object of the deployment, with no more than the permissions of ops/gcp/object-store.json', async () => {
    expect(await readdir(setup.stack.home)).not.toContain('objects');
    const [used = []] = Object.values(await emulator.usedPermissions());
    expect(used).toEqual(await objectStorePermissions());
  });

  it('is tried whole by ropewalk doctor', async () => {
    vi.stubEnv('GCE_METADATA_HOST', env['GCE_METADATA_HOST']);
    const examine = (text: string) => checkObjects({ home: '/nowhere', env: { ROPEWALK_OBJECTS: text } });
    try {
      expect(await examine(env['ROPEWALK_OBJECTS'] ?? '')).toMatchObject([
        { state: 'ok', text: expect.stringContaining(`gs://${bucket}/files/`) },
      ]);
      expect(await examine(`gs://no-bucket?endpoint=${emulator.url}`)).toMatchObject([
        { state: 'broken', text: 'There is no bucket no-bucket.' },
      ]);
    } finally {
      vi.unstubAllEnvs();
    }
  });
});

const objectStorePermissions = async (): Promise<string[]> => {
  const role: { includedPermissions: string[] } = JSON.parse(
    await readFile(join(repository, 'ops', 'gcp', 'object-store.json'), 'utf8'),
  );
  return role.includedPermissions;
};

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

/** A network before the S3 server: each connection can be made to stop after so many bytes in one direction. */
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
    /** Null: nothing stalls any more, and connections that did are for those at both ends to give up. */
    stallAfter: (bytes: number | null): void => {
      limit = bytes;
      stalled = 0;
    },
  };
}
