// A real agent, started by the real local provider in a home of its own, against a stand-in for the API.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { buildAgent } from '../../agent/build.ts';
import { createLocalProvider } from '../../providers/local/provider.ts';
import { isSameProcess } from '../../providers/local/processes.ts';
import type { LaunchRequest, LogLine, LogQuery, Owner, Provider } from '../../providers/provider.ts';
import { eventually } from '../support/eventually.ts';

export interface Bench {
  home: string;
  agentBundle: string;
  provider: Provider;
  options: { home: string; agentBundle: string; nodePath: string; maxInstances: number; cores: number };
  remove(): Promise<void>;
}

/** A home and a built agent; `remove` ends every instance that was launched in it. */
export async function createBench(maxInstances = 8): Promise<Bench> {
  const home = await mkdtemp(join(tmpdir(), 'ropewalk-agent-'));
  const agentBundle = join(home, 'agent.mjs');
  await buildAgent(agentBundle);
  const options = { home, agentBundle, nodePath: process.execPath, maxInstances, cores: 2 };
  const provider = createLocalProvider({ ...options, environment: process.env });
  const launched: { owner: Owner; ids: string[] }[] = [];
  const recording: Provider = {
    ...provider,
    launch: async (request) => {
      const outcome = await provider.launch(request);
      launched.push({ owner: request.owner, ids: outcome.launched.map(({ id }) => id) });
      return outcome;
    },
  };
  const remove = async (): Promise<void> => {
    for (const { owner, ids } of launched) await provider.terminate(owner, ids, AbortSignal.timeout(30_000));
    await rm(home, { recursive: true, force: true });
  };
  return { home, agentBundle, provider: recording, options, remove };
}

export interface Agent {
  id: string;
  owner: Owner;
  directory: string;
  pid: number;
  hasEnded(): Promise<boolean>;
  lines(query?: Partial<LogQuery>): Promise<LogLine[]>;
  terminate(): Promise<void>;
}

let launches = 0;

export async function launchAgent(bench: Bench, api: { url: string; launchToken: string }): Promise<Agent> {
  launches += 1;
  const owner = { deploymentId: 'd_test', workspace: 'default', cluster: launches };
  const request: LaunchRequest = {
    owner,
    clusterName: `job-${launches}`,
    token: `launch ${launches} in ${bench.home}`,
    slots: [{ slot: 0, generation: 1, role: 'worker' }],
    apiUrl: api.url,
    launchToken: api.launchToken,
  };
  const { launched, failures } = await bench.provider.launch(request);
  const id = launched[0]?.id;
  if (id === undefined) throw new Error(`not launched: ${JSON.stringify(failures)}`);
  const directory = join(bench.home, 'instances', id);
  const { pid, startTime } = await readClaim(directory);
  return {
    id,
    owner,
    directory,
    pid,
    hasEnded: async () => !(await isSameProcess({ pid, startTime })),
    lines: async (query = {}) => {
      const found: LogLine[] = [];
      for await (const line of bench.provider.logs({ owner, ...query })) found.push(line);
      return found;
    },
    terminate: () => bench.provider.terminate(owner, [id], AbortSignal.timeout(30_000)),
  };
}

export async function readClaim(directory: string): Promise<{ pid: number; startTime: string }> {
  const claim: unknown = JSON.parse(await readFile(join(directory, 'claim.json'), 'utf8'));
  if (typeof claim !== 'object' || claim === null || !('pid' in claim && 'startTime' in claim))
    throw new Error('claim');
  return { pid: Number(claim.pid), startTime: String(claim.startTime) };
}

/** The text of a file that a task writes, once it is whole (it ends with a newline). */
export async function fileText(path: string): Promise<string> {
  return eventually(async () => {
    const text = await readFile(path, 'utf8');
    return text.endsWith('\n') ? text.trim() : false;
  });
}

export const scriptFile = (
  path: string,
  text: string,
): { path: string; contentBase64: string; executable: boolean } => ({
  path,
  contentBase64: Buffer.from(text).toString('base64'),
  executable: false,
});
