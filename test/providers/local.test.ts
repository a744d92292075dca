// The local provider against the contract of all providers, and its own features: files, processes, logs.
import { spawn } from 'node:child_process';
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { providerContract } from './contract.ts';
import type { ProviderHarness } from './contract.ts';
import { instanceIdOf } from '../../providers/local/launch.ts';
import { outside } from '../../providers/local/environment.ts';
import { createLocalProvider } from '../../providers/local/provider.ts';
import { isSameProcess, scanProcesses, startTimeOf } from '../../providers/local/processes.ts';
import type { LaunchOutcome, LaunchRequest, LogLine, LogQuery } from '../../providers/provider.ts';
import { createBench, fileText, launchAgent, readClaim } from '../agent/harness.ts';
import type { Bench } from '../agent/harness.ts';
import { startAgentApi } from '../support/agent-api.ts';
import type { AgentApi } from '../support/agent-api.ts';
import { eventually } from '../support/eventually.ts';

let bench: Bench;
let api: AgentApi;
beforeEach(async () => {
  bench = await createBench(3);
  // A script that is written later: an agent requests its command as soon as it has registered.
  api = await startAgentApi({ command: ['sh', scriptPath(), scratchPath()] });
});
afterEach(async () => {
  await bench.remove();
  await api.close();
});

const scriptPath = (): string => join(bench.home, 'task.sh');
const scratchPath = (): string => join(bench.home, 'scratch');

let tokens = 0;
const owner = () => ({ deploymentId: 'd_test', workspace: 'default', cluster: ++tokens });

function requestFor(
  of: LaunchRequest['owner'],
  instances: number,
  token = `token ${++tokens} ${bench.home}`,
): LaunchRequest {
  const slots = Array.from({ length: instances }, (_, slot) => ({ slot, generation: 1, role: 'worker' as const }));
  return { owner: of, clusterName: 'job-1', token, slots, apiUrl: api.url, launchToken: api.launchToken };
}

const directoryOf = (id: string): string => join(bench.home, 'instances', id);
const soon = (): AbortSignal => AbortSignal.timeout(30_000);

async function launchElsewhere(request: LaunchRequest): Promise<LaunchOutcome> {
  const script = fileURLToPath(new URL('launch-elsewhere.ts', import.meta.url));
  const child = spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(JSON.stringify({ options: bench.options, request }));
  return JSON.parse(await text(child.stdout));
}

async function crash(id: string): Promise<void> {
  const agent = await readClaim(directoryOf(id));
  process.kill(agent.pid, 'SIGKILL');
  await eventually(async () => !(await isSameProcess(agent)));
}

/** Orphaned processes: of another group and session, with an empty environment, stopped, or without parents. */
async function startStubbornWork(ids: string[]): Promise<() => Promise<boolean>> {
  const scratch = scratchPath();
  await mkdir(scratch);
  const stay = 'echo $$ > "$1"; trap "" TERM HUP; while :; do sleep 1; done';
  const script = `
    setsid sh -c '${stay}' sh "$1/$ROPEWALK_INSTANCE.1" &
    setsid env -i sh -c '${stay}' sh "$1/$ROPEWALK_INSTANCE.2" &
    sh -c 'echo $$ > "$1"; kill -STOP $$; sleep 1000' sh "$1/$ROPEWALK_INSTANCE.3" &
    ( setsid sh -c '${stay}' sh "$1/$ROPEWALK_INSTANCE.4" & )
    trap "" TERM; while :; do sleep 1; done`;
  await writeFile(scriptPath(), script);
  api.enqueue(...ids.map((_, at) => at));
  const names = ids.flatMap((id) => [1, 2, 3, 4].map((n) => join(scratch, `${id}.${n}`)));
  const pids = await Promise.all(names.map(async (path) => Number(await fileText(path))));
  const started = await Promise.all(pids.map(async (pid) => ({ pid, startTime: (await startTimeOf(pid)) ?? 'never' })));
  return async () => (await Promise.all(started.map(isSameProcess))).includes(true);
}

providerContract('local', async (): Promise<ProviderHarness> => ({
  provider: bench.provider,
  freshOwner: owner,
  request: requestFor,
  launchElsewhere,
  capacity: 3,
  crash,
  startStubbornWork,
  leaveBehind: null,
  until: async (condition) => void (await eventually(condition)),
  cleanUp: async () => {},
}));

describe('a local instance', () => {
  it('has an id of its token and place, and a directory that says whose it is', async () => {
    const of = owner();
    const { launched } = await bench.provider.launch(requestFor(of, 2, 'some token'));
    expect(launched.map(({ id }) => id)).toEqual([instanceIdOf('some token', 0), instanceIdOf('some token', 1)]);
    expect(instanceIdOf('some token', 0)).toMatch(/^i_[0-9a-hjkmnp-tv-z]{20}$/);
    const [id = ''] = launched.map((instance) => instance.id);
    const tags: unknown = JSON.parse(await readFile(join(directoryOf(id), 'owner.json'), 'utf8'));
    expect(tags).toMatchObject({ ...of, slot: 0, generation: 1, role: 'worker' });
  });

  it('keeps the launch token out of argv, environments and, once it has read it, files', async () => {
    const agent = await launchAgent(bench, api);
    await eventually(() => api.registrations.length === 1);
    const proc = (name: string): Promise<string> => readFile(`/proc/${agent.pid}/${name}`, 'latin1');
    expect(await proc('cmdline')).not.toContain(api.launchToken);
    const environment = await proc('environ');
    expect(environment).not.toContain(api.launchToken);
    const names = environment
      .split('\0')
      .flatMap((entry) => (entry === '' ? [] : [entry.slice(0, entry.indexOf('='))]));
    const ours = ['ROPEWALK_INSTANCE', 'ROPEWALK_INSTANCE_DIR', 'ROPEWALK_LOG_DIR'];
    const reachingOut = outside.filter((name) => process.env[name] !== undefined);
    expect(names.sort()).toEqual(['HOME', 'LANG', 'PATH', 'TMPDIR', ...ours, ...reachingOut].sort());
    for (const name of await readdir(agent.directory)) {
      const path = join(agent.directory, name);
      if ((await stat(path)).isFile()) expect(await readFile(path, 'utf8')).not.toContain(api.launchToken);
    }
  });

  it('leaves its tags, tombstone and logs, and nothing else of its work', async () => {
    api.bundle.command = [
      'sh',
      '-c',
      'mkdir -p locked/in; echo hello; touch locked/in/x; chmod -R 500 locked; exec sleep 1000',
    ];
    api.enqueue(0);
    const agent = await launchAgent(bench, api);
    await eventually(async () => (await agent.lines({ tasks: new Set([0]) })).length === 1 || null);
    await eventually(() => stat(join(agent.directory, 'work', '0-1', 'locked', 'in', 'x')));
    await agent.terminate();
    const left = await readdir(agent.directory);
    expect(left).toEqual(expect.arrayContaining(['owner.json', 'tombstone']));
    expect(left.filter((name) => ['work', 'results', 'boot.json'].includes(name))).toEqual([]);
    expect((await agent.lines({ tasks: new Set([0]) })).map((line) => line.text)).toEqual(['hello']);
  });

  it('is described as stopping while its tasks outlive its agent', async () => {
    const of = owner();
    const { launched } = await bench.provider.launch(requestFor(of, 1));
    const ids = launched.map(({ id }) => id);
    await startStubbornWork(ids);
    for (const id of ids) await crash(id);
    expect((await bench.provider.describe(of, [])).map(({ state }) => state)).toEqual(['stopping']);
  });

  it('ends itself when it claims its name after it was terminated', async () => {
    const of = owner();
    const request = requestFor(of, 1);
    const id = instanceIdOf(request.token, 0);
    await bench.provider.terminate(of, [id], soon());
    // A launch that had checked before the tombstone existed would start the agent now.
    const child = spawn(process.execPath, [bench.agentBundle], {
      env: { ROPEWALK_INSTANCE: id, ROPEWALK_INSTANCE_DIR: directoryOf(id), ROPEWALK_LOG_DIR: bench.home },
      stdio: 'ignore',
    });
    expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(0);
    expect(await bench.provider.launch(request)).toMatchObject({ launched: [{ id }], failures: [] });
    expect(api.arrivals).toEqual([]);
  });

  it('ends itself when it finds its tombstone, or its directory is gone', async () => {
    const [first, second] = [await launchAgent(bench, api), await launchAgent(bench, api)];
    await writeFile(join(first.directory, 'tombstone'), '');
    await rm(second.directory, { recursive: true });
    await eventually(async () => (await first.hasEnded()) && (await second.hasEnded()));
  });

  it('that does not fit is refused with the limit and how to raise it', async () => {
    const { failures } = await bench.provider.launch(requestFor(owner(), 5));
    expect(failures).toEqual([
      {
        offer: 'local',
        zone: 'local',
        market: 'on-demand',
        code: 'HOST_FULL',
        scope: 'cloud',
        text: expect.stringMatching(/at most 3 instances.*ROPEWALK_MAX_LOCAL_INSTANCES/),
        count: 2,
      },
    ]);
  });

  it('whose agent cannot run is a failure that says why', async () => {
    await writeFile(bench.agentBundle, 'console.error("broken on purpose"); process.exit(3)');
    const { launched, failures } = await bench.provider.launch(requestFor(owner(), 2));
    expect(launched).toEqual([]);
    expect(failures).toMatchObject([{ code: 'AGENT_FAILED', scope: 'cloud', count: 2 }]);
    expect(failures[0]?.text).toContain('broken on purpose');
    const provider = createLocalProvider({ ...bench.options, nodePath: join(bench.home, 'no-node') });
    const other = await provider.launch(requestFor(owner(), 1));
    expect(other.failures[0]?.text).toContain('could not be started');
  });
});

describe('processes', () => {
  it('that are zombies count as gone', async () => {
    // The shell starts a child and becomes a program that never reaps it.
    const parent = spawn('sh', ['-c', 'sleep 0.05 & echo $!; exec sleep 1000'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    try {
      const pid = await new Promise<number>((resolve) => parent.stdout.once('data', (data) => resolve(Number(data))));
      await eventually(async () => (await readFile(`/proc/${pid}/stat`, 'latin1')).includes(') Z '));
      expect(await startTimeOf(pid)).toBeNull();
      expect((await scanProcesses()).filter((entry) => entry.pid === pid)).toEqual([]);
    } finally {
      parent.kill('SIGKILL');
    }
  });

  it('are another one when only the pid is the same', async () => {
    const startTime = await startTimeOf(process.pid);
    expect(startTime).toMatch(/^\d+$/);
    expect(await isSameProcess({ pid: process.pid, startTime: startTime ?? '' })).toBe(true);
    expect(await isSameProcess({ pid: process.pid, startTime: `${startTime}0` })).toBe(false);
  });
});

describe('logs', () => {
  const of = { workspace: 'default', cluster: 12 };
  let directory: string;
  let home: string;
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'ropewalk-logs-'));
    directory = join(home, 'logs', 'default', '12');
    await mkdir(join(directory, 'i_aaaaaaaa'), { recursive: true });
    await mkdir(join(directory, 'i_bbbbbbbb'));
    const even = Array.from({ length: 3_000 }, (_, at) => line(at * 2, `even ${at} ${'x'.repeat(40)}`)).join('');
    const odd = Array.from({ length: 3_000 }, (_, at) => line(at * 2 + 1, `odd ${at}`)).join('');
    await writeFile(join(directory, 'i_aaaaaaaa', '0-1.jsonl'), even);
    await writeFile(join(directory, 'i_bbbbbbbb', '1-1.jsonl'), odd);
    await writeFile(
      join(directory, 'i_bbbbbbbb', '4-2.jsonl'),
      `${line(9_000, 'y'.repeat(300_000))}not json\n${line(9_001, 'after')}{"t":90`,
    );
    await writeFile(join(directory, 'i_bbbbbbbb', 'agent.jsonl'), line(3, 'up', 'agent'));
  });
  afterAll(() => rm(home, { recursive: true, force: true }));

  const line = (t: number, x: string, s = 'stdout'): string => `${JSON.stringify({ t, s, x })}\n`;
  const provider = () => createLocalProvider({ ...bench.options, home });
  const read = async (query: Omit<LogQuery, 'owner'> & { owner?: LogQuery['owner'] }): Promise<LogLine[]> => {
    const lines: LogLine[] = [];
    for await (const found of provider().logs({ owner: of, ...query })) lines.push(found);
    return lines;
  };

  it('are merged in time order, with what each line belongs to', async () => {
    const lines = await read({});
    expect(lines).toHaveLength(6_003);
    expect(lines.map(({ atMs }) => atMs)).toEqual(lines.map(({ atMs }) => atMs).sort((a, b) => a - b));
    expect(lines[1]).toEqual({ atMs: 1, instance: 'i_bbbbbbbb', task: 1, attempt: 1, stream: 'stdout', text: 'odd 0' });
    expect(lines.at(-1)).toMatchObject({ task: 4, attempt: 2, text: 'after' });
    expect(lines.find(({ stream }) => stream === 'agent')).toMatchObject({ task: null, attempt: null, text: 'up' });
  });

  it('are narrowed by task, instance and time', async () => {
    expect(new Set((await read({ tasks: new Set([0, 4]) })).map(({ task }) => task))).toEqual(new Set([0, 4]));
    expect(new Set((await read({ instance: 'i_aaaaaaaa' })).map(({ task }) => task))).toEqual(new Set([0]));
    expect((await read({ sinceMs: 5_999 })).map(({ atMs }) => atMs)).toEqual([5_999, 9_000, 9_001]);
    expect(await read({ tasks: new Set([99]) })).toEqual([]);
  });

  it('of a cluster that printed nothing are empty, and no workspace leads elsewhere', async () => {
    expect(await read({ owner: { workspace: 'default', cluster: 13 } })).toEqual([]);
    await expect(read({ owner: { workspace: '../default', cluster: 12 } })).rejects.toThrow('slug');
  });

  it('are followed as they appear, whole lines only, until aborted', async () => {
    const abort = new AbortController();
    const seen: string[] = [];
    const following = (async () => {
      const query = { owner: of, tasks: new Set([7]), follow: true, signal: abort.signal };
      for await (const { text: shown } of provider().logs(query)) seen.push(shown);
    })();
    const path = join(directory, 'i_aaaaaaaa', '7-1.jsonl');
    await appendFile(path, line(1, 'first') + line(2, 'second').slice(0, 12));
    await eventually(() => seen.length === 1);
    await appendFile(path, line(2, 'second').slice(12));
    await eventually(() => seen.length === 2);
    abort.abort();
    await following;
    expect(seen).toEqual(['first', 'second']);
  });
});
