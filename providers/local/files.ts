// The files of an instance's directory, $ROPEWALK_HOME/instances/{id}/. They are the local provider's only state. All except
// group.json appear atomically (by link or rename), so a crash at any instant leaves the old state or the new one.
//   owner.json     its tags, written before its agent is started
//   boot.json      the API's address and the launch token, so 0600; the agent deletes it
//   claim.json     the agent process of this instance and its control group, written by the agent; the first one wins
//   group.json     the process group of the task or Dask process it runs, written by the agent over the previous one
//   containers.json  the container engine that it uses, written by the agent before its first container
//   verdict        "start" or "refuse", decided by the first launch attempt and binding for all others
//   refused.json   why this instance was never started
//   tombstone      it must not run: written before it is terminated
import { randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

import type { InstanceRole, LaunchFailure } from '../../domain/cluster/state.ts';
import type { Owner } from '../provider.ts';
import { isGroupOf } from './control-group.ts';
import type { ProcessIdentity } from './processes.ts';

export interface OwnerFile extends Owner {
  slot: number;
  generation: number;
  role: InstanceRole;
  launchedAtMs: number;
}

export interface InstancePaths {
  root: string;
  owner: string;
  boot: string;
  claim: string;
  group: string;
  verdict: string;
  refused: string;
  tombstone: string;
  /** The agent's output before its log exists. */
  output: string;
  containers: string;
  work: string;
  results: string;
}

const idPattern = /^i_[0-9a-z]{8,64}$/;
/** A workspace's slug becomes a directory name and must not lead out of its parent. */
const slugPattern = /^[a-z0-9][a-z0-9._-]*$/i;

/** Ids become directory names, so only ids of the local provider are looked up. */
export const isInstanceId = (id: string): boolean => idPattern.test(id);

export function instancePaths(home: string, id: string): InstancePaths {
  if (!isInstanceId(id)) throw new Error(`"${id}" is not the id of a local instance`);
  const root = join(home, 'instances', id);
  const at = (name: string): string => join(root, name);
  return {
    root,
    owner: at('owner.json'),
    boot: at('boot.json'),
    claim: at('claim.json'),
    group: at('group.json'),
    verdict: at('verdict'),
    refused: at('refused.json'),
    tombstone: at('tombstone'),
    output: at('agent.out'),
    containers: at('containers.json'),
    work: at('work'),
    results: at('results'),
  };
}

export function logDirectory(home: string, owner: Pick<Owner, 'workspace' | 'cluster'>): string {
  if (!slugPattern.test(owner.workspace)) throw new Error(`"${owner.workspace}" is not the slug of a workspace`);
  return join(home, 'logs', owner.workspace, String(owner.cluster));
}

export async function listInstanceIds(home: string): Promise<string[]> {
  return (await namesIn(join(home, 'instances'))).filter(isInstanceId);
}

/** Names in a directory; none when it does not exist. */
export async function namesIn(directory: string): Promise<string[]> {
  return readdir(directory).catch(ifMissing<string[]>([]));
}

export async function exists(path: string): Promise<boolean> {
  return stat(path).then(() => true, ifMissing(false));
}

export async function readOwner(paths: InstancePaths): Promise<OwnerFile | null> {
  const value = await readRecord(paths.owner);
  if (value === null) return null;
  const { deploymentId, workspace, cluster, slot, generation, role, launchedAtMs } = value;
  if (typeof deploymentId !== 'string' || typeof workspace !== 'string' || typeof cluster !== 'number') return null;
  if (typeof slot !== 'number' || typeof generation !== 'number' || typeof launchedAtMs !== 'number') return null;
  if (role !== 'head' && role !== 'worker') return null;
  return { deploymentId, workspace, cluster, slot, generation, role, launchedAtMs };
}

/** The process in a claim.json or group.json. */
export async function readProcess(path: string): Promise<ProcessIdentity | null> {
  const value = await readRecord(path);
  if (value === null) return null;
  const { pid, startTime } = value;
  return typeof pid === 'number' && typeof startTime === 'string' ? { pid, startTime } : null;
}

/** The control group in a claim.json; null where the system has none. */
export async function readControlGroup(id: string, paths: InstancePaths): Promise<string | null> {
  const path = (await readRecord(paths.claim))?.controlGroup;
  return typeof path === 'string' && isGroupOf(id, path) ? path : null;
}

export type Refusal = Pick<LaunchFailure, 'code' | 'text'>;

/** The content of a refused.json or of a record of ended-instances.ts. */
export async function readRefusal(path: string): Promise<Refusal | null> {
  const value = await readRecord(path);
  if (value === null) return null;
  const { code, text } = value;
  return typeof code === 'string' && typeof text === 'string' ? { code, text } : null;
}

/** Replaces the whole file; readable by its owner alone. */
export async function writeWhole(path: string, text: string): Promise<void> {
  const temporary = await writeTemporary(path, text);
  await rename(temporary, path);
}

/** Writes the file unless it exists: the first writer's content stays. */
export async function writeOnce(path: string, text: string): Promise<void> {
  const temporary = await writeTemporary(path, text);
  try {
    await link(temporary, path);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  } finally {
    await rm(temporary, { force: true });
  }
}

export const errorCode = (error: unknown): string | null =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;

async function writeTemporary(path: string, text: string): Promise<string> {
  const temporary = `${path}.${process.pid}.${randomBytes(6).toString('hex')}.tmp`;
  await mkdir(join(path, '..'), { recursive: true, mode: 0o700 });
  const file = await open(temporary, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  return temporary;
}

interface JsonRecord {
  [name: string]: unknown;
  pid?: unknown;
  startTime?: unknown;
  controlGroup?: unknown;
  deploymentId?: unknown;
  workspace?: unknown;
  cluster?: unknown;
  slot?: unknown;
  generation?: unknown;
  role?: unknown;
  launchedAtMs?: unknown;
  code?: unknown;
  text?: unknown;
}

/** null for a missing or malformed file: an unreadable file must not hide the other instances. */
async function readRecord(path: string): Promise<JsonRecord | null> {
  const text = await readFile(path, 'utf8').catch(ifMissing<string | null>(null));
  if (text === null) return null;
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

const isRecord = (value: unknown): value is JsonRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function ifMissing<T>(value: T): (error: unknown) => T {
  return (error) => {
    if (errorCode(error) === 'ENOENT') return value;
    throw error;
  };
}
