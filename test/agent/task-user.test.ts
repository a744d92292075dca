// Tasks as a user of their own, where the agent is root on a machine of its own: their permitted operations, and the files they
// cannot read.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { buildAgent } from '../../agent/build.ts';
import { collect, snapshot } from '../../agent/files/collect.ts';
import { describeFile } from '../../agent/files/http-file.ts';
import { prepareDirectory } from '../../agent/job/task-files.ts';
import { giveContents, giveDirectory, handOver, removeDirectory } from '../../agent/processes/hand-over.ts';
import { findTaskUser, letPass, type TaskUser } from '../../agent/processes/task-user.ts';
import { startProcess } from '../../agent/processes/start-process.ts';
import { startAgentApi, type AgentApi } from '../support/agent-api.ts';
import { eventually } from '../support/eventually.ts';
import { freshOwner, startCloud, type TestCloud, workersRequest } from '../providers/aws-cloud.ts';

const isRoot = process.getuid?.() === 0 && process.platform === 'linux';
const name = 'daemon';
let scratch: string;
beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'ropewalk-task-user-'));
  await chmod(scratch, 0o711);
});
afterAll(() => rm(scratch, { recursive: true, force: true }));

describe('the user of tasks', () => {
  it('is the user of the agent where none is named', async () => {
    expect(await findTaskUser({})).toBeNull();
  });

  it.runIf(isRoot)('must exist, and must not be root', async () => {
    await expect(findTaskUser({ ROPEWALK_TASK_USER: 'no-such-user' })).rejects.toThrow('no user no-such-user');
    await expect(findTaskUser({ ROPEWALK_TASK_USER: 'root' })).rejects.toThrow('no user root other than root');
  });
});

describe.runIf(isRoot)('a command of that user', () => {
  let user: TaskUser;
  beforeEach(async () => {
    const found = await findTaskUser({ ROPEWALK_TASK_USER: name });
    if (found === null) throw new Error('not found');
    user = found;
  });

  async function run(script: string, cwd: string): Promise<{ exitCode: number | null; lines: string[] }> {
    const lines: string[] = [];
    const output = {
      append: (_: string, more: string[]) => lines.push(...more) > 0,
      drained: () => Promise.resolve(),
    };
    const env = { PATH: process.env['PATH'] ?? '' };
    await handOver(user, cwd);
    const command = { argv: ['sh', '-c', script], env, cwd, user };
    const running = await startProcess(command, { output, pipeDirectory: scratch });
    const { exitCode } = await running.ended;
    return { exitCode, lines };
  }

  it('owns its directory and what is in it, and opens its own output again by its name', async () => {
    const cwd = join(scratch, 'own');
    await mkdir(join(cwd, 'in'), { recursive: true, mode: 0o700 });
    await writeFile(join(cwd, 'in', 'data'), 'data', { mode: 0o600 });
    const script = 'id -u; id -G; cat in/data; echo; echo more >> in/data; echo again > /dev/stderr';
    const { exitCode, lines } = await run(script, cwd);
    expect(exitCode).toBe(0);
    expect(lines.toSorted()).toEqual([String(user.uid), String(user.gid), 'data', 'again'].toSorted());
    expect(await readFile(join(cwd, 'in', 'data'), 'utf8')).toBe('datamore\n');
  });

  it('is given no file that a link in its directory leads to', async () => {
    const secret = join(scratch, 'secret');
    await writeFile(secret, 'secret', { mode: 0o600 });
    const cwd = join(scratch, 'links');
    await mkdir(cwd, { mode: 0o700 });
    await symlink(secret, join(cwd, 'link'));
    const { lines } = await run('cat link 2>&1', cwd);
    expect(lines).toEqual([expect.stringContaining('Permission denied')]);
    expect((await stat(secret)).uid).toBe(0);
  });
});

describe.runIf(isRoot)('the directory of a task', () => {
  const made = async (): Promise<{ directory: string; user: TaskUser }> => {
    const user = await findTaskUser({ ROPEWALK_TASK_USER: name });
    if (user === null) throw new Error('not found');
    const directory = join(await mkdtemp(join(scratch, 'work-')), '1-1');
    await chmod(join(directory, '..'), 0o711);
    await prepareDirectory(directory, [{ path: 'a/b', content: Buffer.from('b'), executable: false }], user);
    return { directory, user };
  };

  it('is removed before and after it was given, also where it holds a directory that may not be written', async () => {
    const { directory, user } = await made();
    await removeDirectory(directory, user);
    await prepareDirectory(directory, [{ path: 'a/b', content: Buffer.from('b'), executable: false }], user);
    await handOver(user, directory);
    await chmod(join(directory, 'a'), 0o500);
    await removeDirectory(directory, user);
    await expect(stat(directory)).rejects.toThrow('ENOENT');
  });

  it('takes no file of root with it, where a process of the task exchanges directories for links meanwhile', async () => {
    const victim = await mkdtemp(join(scratch, 'victim-'));
    await chmod(victim, 0o755);
    for (let nth = 0; nth < 20; nth += 1) await writeFile(join(victim, `f${nth}`), 'kept');
    // RENAME_EXCHANGE of renameat2: a name is a directory at one moment, and a link to the victim at the next.
    const program = `
import ctypes, os, sys
libc, top, victim = ctypes.CDLL(None), sys.argv[1], sys.argv[2]
for i in range(30):
    os.makedirs(f"{top}/d{i}", exist_ok=True)
    for n in range(20): open(f"{top}/d{i}/f{n}", "w").close()
    os.symlink(victim, f"{top}/l{i}")
print("ready", flush=True)
while os.path.isdir(top):
    for i in range(30): libc.renameat2(-100, f"{top}/d{i}".encode(), -100, f"{top}/l{i}".encode(), 2)
`;
    for (let round = 0; round < 5; round += 1) {
      const { directory, user } = await made();
      await handOver(user, directory);
      const racer = spawn('/usr/bin/python3', ['-c', program, directory, victim], {
        ...{ uid: user.uid, gid: user.gid, stdio: ['ignore', 'pipe', 'inherit'] },
      });
      const ended = once(racer, 'exit');
      await once(racer.stdout ?? racer, 'data');
      await removeDirectory(directory, user).catch(() => undefined);
      racer.kill('SIGKILL');
      await ended;
    }
    expect(await readdir(victim)).toHaveLength(20);
  });
});

describe.runIf(process.platform === 'linux')('the files that a task leaves', () => {
  it('are listed in no other directory, where a process of the task exchanges one for a link meanwhile', async () => {
    const victim = await mkdtemp(join(scratch, 'victim-'));
    for (let nth = 0; nth < 20; nth += 1) await writeFile(join(victim, `secret-${nth}`), '');
    await symlink('/', join(victim, 'secret-link'));
    const directory = await mkdtemp(join(scratch, 'walked-'));
    const program = `
import ctypes, os, sys
libc, top, victim = ctypes.CDLL(None), sys.argv[1], sys.argv[2]
os.chdir(top)
for i in range(100): os.mkdir(f"p{i}")
os.mkdir("d")
os.mkdir("d/in")
open("d/in/mine", "w").close()
os.symlink(victim, "l")
print("ready", flush=True)
while os.path.isdir(top):
    libc.renameat2(-100, b"d", -100, b"l", 2)
`;
    const racer = spawn('/usr/bin/python3', ['-c', program, directory, victim], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(racer, 'exit');
    const paths = new Set<string>();
    try {
      await once(racer.stdout ?? racer, 'data');
      for (let round = 0; round < 60; round += 1) {
        const { files, leftOut } = await collect(directory, new Map());
        for (const text of [...files.map(({ path }) => path), ...leftOut]) paths.add(text);
      }
    } finally {
      racer.kill('SIGKILL');
      await ended;
    }
    expect([...paths].filter((text) => text.includes('secret'))).toEqual([]);
    expect([...paths].some((path) => path.endsWith('/in/mine'))).toBe(true);
  });

  it('are those it has changed, not those it was given, although their owner changes', async () => {
    const directory = await mkdtemp(join(scratch, 'given-'));
    await mkdir(join(directory, 'in'));
    for (const name of ['in/kept', 'in/changed']) await writeFile(join(directory, name), name);
    const owner = isRoot ? { uid: 64_005, gid: 64_005 } : null;
    await giveContents(owner, directory);
    const before = await snapshot(directory);
    await giveDirectory(owner, directory);
    await writeFile(join(directory, 'in', 'changed'), 'by the task');
    await writeFile(join(directory, 'new'), 'by the task');
    const { files } = await collect(directory, before);
    expect(files.map(({ path }) => path).toSorted()).toEqual(['in/changed', 'new']);
    expect((await stat(join(directory, 'in', 'kept'))).uid).toBe(owner?.uid ?? process.getuid?.());
  });
});

describe('a file that a task leaves', () => {
  it.each(['link', 'directory/secret'])('is read nowhere but in its directory: %s', async (path) => {
    const outside = await mkdtemp(join(scratch, 'outside-'));
    await writeFile(join(outside, 'secret'), 'secret');
    const directory = await mkdtemp(join(scratch, 'output-'));
    await symlink(join(outside, 'secret'), join(directory, 'link'));
    await symlink(outside, join(directory, 'directory'));
    await writeFile(join(directory, 'result'), 'result');
    expect(await describeFile(join(directory, 'result'), directory)).toMatchObject({ bytes: 6 });
    await expect(describeFile(join(directory, path), directory)).rejects.toThrow(/ELOOP|ENOTDIR|leads out/);
  });
});

describe.runIf(isRoot)('an agent that is root', () => {
  let cloud: TestCloud;
  let api: AgentApi;
  beforeAll(async () => {
    const agent = join(scratch, 'agent.mjs');
    await buildAgent(agent);
    const own = `ROPEWALK_INSTANCE_DIR="${scratch}/instance" ROPEWALK_LOG_DIR="${scratch}/logs"`;
    const where = `ROPEWALK_CLOUD=aws ROPEWALK_TASK_USER=${name} ${own}`;
    const endpoint = 'AWS_ENDPOINT_URL="${AWS_EC2_METADATA_SERVICE_ENDPOINT%/imds/*}"';
    cloud = await startCloud(`unset ROPEWALK_INSTANCE; ${where} ${endpoint} exec "${process.execPath}" "${agent}"`);
    api = await startAgentApi();
  });
  afterEach(() => api.close());
  afterAll(() => cloud.close());

  it('runs tasks as that user: they do their work, and read neither its files nor its memory', async () => {
    const script = `
      echo "user $(id -un) home $HOME"
      cat input; echo changed >> input; echo result > result
      ls ../.. 2>&1; cat ../../claim.json 2>&1
      cat /proc/$PPID/environ 2>&1 | head -c 100; head -c 1 /proc/$PPID/mem 2>&1
      kill -9 $PPID 2>&1
      echo loud > /dev/stderr`;
    api.bundle = {
      ...api.bundle,
      command: ['sh', '-c', script],
      files: [{ path: 'input', contentBase64: Buffer.from('hello\n').toString('base64'), executable: false }],
    };
    api.enqueue(1);
    const owner = freshOwner();
    await cloud.provider.launch({ ...workersRequest(owner, 1), apiUrl: api.url, launchToken: api.launchToken });
    await eventually(() => api.results().length > 0);
    expect(api.results()[0]).toMatchObject({ task: 1, exitCode: 0 });
    api.answer.stop = { code: 'JOB_OVER', text: 'Job 7 has ended.' };
    await eventually(async () => (await cloud.emulator.ledger()).live.length === 0);
    const read: string[] = [];
    for await (const { task, text } of cloud.provider.logs({ owner })) if (task === 1 && text !== '') read.push(text);
    const home = execFileSync('getent', ['passwd', name], { encoding: 'utf8' }).split(':')[5];
    expect(read.filter((line) => !/denied|not permitted/i.test(line))).toEqual([
      `user ${name} home ${home}`,
      'hello',
      'loud',
    ]);
    // The list of its directory, the claim, environment, memory, and the signal.
    expect(read.filter((line) => /denied|not permitted/i.test(line))).toHaveLength(5);
  });

  it('gives its directories the mode 711, so that tasks reach their own below them', async () => {
    const directory = join(scratch, 'passed');
    await letPass({ name, uid: 65_534, gid: 65_534, home: '/' }, [directory]);
    expect((await stat(directory)).mode & 0o777).toBe(0o711);
  });
});
