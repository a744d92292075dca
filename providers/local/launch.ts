// Starts agents. A launch's instance ids derive from its token, and an agent claims its id with a file, so a repeated launch,
// in any process and after any crash, finds the existing instances instead of starting them again. A refusal is final for its
// token: a late attempt must not start an instance that the cluster no longer expects.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { InstanceRole, LaunchFailure } from '../../domain/cluster/state.ts';
import type { InstancePrice } from '../../domain/cost/interval.ts';
import type { LaunchRequest, LaunchOutcome, LaunchedInstance, Owner } from '../provider.ts';
import { livingInstances } from './describe.ts';
import type { Home } from './describe.ts';
import { endedRecordOf } from './ended-instances.ts';
import { errorIn } from './error-in-output.ts';
import { exists, instancePaths, logDirectory, readRefusal, writeOnce, writeWhole } from './files.ts';
import type { InstancePaths, OwnerFile, Refusal } from './files.ts';
import { localOffer } from './offers.ts';

export interface LaunchContext extends Home {
  agentBundle: string;
  nodePath: string;
  maxInstances: number;
  price: InstancePrice;
  /** The agents' environment variables besides those that name their instance. */
  environment: Record<string, string>;
  /** Ids of instances that this process has admitted and whose agents have not claimed them yet. */
  starting: Set<string>;
  /** Called when an agent that this process started has crashed: it neither exited with 0 nor was terminated. */
  onCrash?: (owner: Owner, id: string) => void;
}

interface Place {
  id: string;
  slot: number;
  generation: number;
  role: InstanceRole;
}

/** A started agent without a claim by then is killed: no cluster would know of it. */
const claimTimeoutMs = 30_000;
const claimPollMs = 20;
const roomPollMs = 200;
const base32 = '0123456789abcdefghjkmnpqrstvwxyz';

/** The instances that a launch starts, decided once for all its retries. */
export interface Admission {
  starting: Place[];
  launched: LaunchedInstance[];
  refusals: Refusal[];
}

/**
 * Admissions run one at a time, because two could use the last place. Until `giveUpAtMs`, a `performance.now()` time, a launch
 * without any room waits for other instances to end.
 */
export async function admitLaunch(
  context: LaunchContext,
  request: LaunchRequest,
  giveUpAtMs: number,
): Promise<Admission> {
  const places = request.slots.map((slot, index) => ({ ...slot, id: instanceIdOf(request.token, index) }));
  const fresh: Place[] = [];
  const refusals: Refusal[] = [];
  const launched: LaunchedInstance[] = [];
  for (const place of places) {
    const paths = instancePaths(context.home, place.id);
    const record = await endedRecordOf(context.home, place.id);
    const refusal = record?.refusal ?? (await readRefusal(paths.refused));
    if (refusal !== null) refusals.push(refusal);
    else if (record !== null || (await exists(paths.tombstone)) || (await exists(paths.claim)))
      launched.push(launchedInstance(place, context.price));
    else fresh.push(place);
  }
  const room = fresh.length === 0 ? 0 : await findRoom(context, fresh, giveUpAtMs);
  const starting: Place[] = [];
  for (const [index, place] of fresh.entries()) {
    const paths = instancePaths(context.home, place.id);
    if (await mayStart(paths, index < room)) starting.push(place);
    else refusals.push(await refuse(paths, hostFull(context.maxInstances)));
  }
  for (const { id } of starting) context.starting.add(id);
  return { starting, launched, refusals };
}

/** Other admissions need not wait for it, because an admitted instance is already counted. */
export async function startAdmitted(
  context: LaunchContext,
  request: LaunchRequest,
  { starting, launched, refusals }: Admission,
): Promise<LaunchOutcome> {
  const started = await Promise.all(
    starting.map((place) =>
      startInstance(context, request, place).finally(() => void context.starting.delete(place.id)),
    ),
  );
  const taken = started.flatMap(({ place, refusal }) =>
    refusal === null ? launchedInstance(place, context.price) : [],
  );
  const refused = started.flatMap(({ refusal }) => refusal ?? []);
  return {
    launched: [...launched, ...taken].toSorted((a, b) => a.slot - b.slot),
    failures: groupRefusals([...refusals, ...refused]),
  };
}

/**
 * Returns at least one place, or none after `giveUpAtMs`: some instances now are better than all of them later. A running
 * instance among `fresh` is being started by another attempt of this launch, and occupies only its own place.
 */
async function findRoom(context: LaunchContext, fresh: Place[], giveUpAtMs: number): Promise<number> {
  const mine = new Set(fresh.map(({ id }) => id));
  for (;;) {
    const others = new Set([...(await livingInstances(context)), ...context.starting].filter((id) => !mine.has(id)));
    const room = context.maxInstances - others.size;
    if (room > 0 || performance.now() >= giveUpAtMs) return Math.max(0, room);
    await sleep(roomPollMs);
  }
}

/** Concurrent attempts may see different room; the first written verdict decides for all of them. */
async function mayStart(paths: InstancePaths, hasRoom: boolean): Promise<boolean> {
  await writeOnce(paths.verdict, hasRoom ? 'start' : 'refuse');
  return (await readFile(paths.verdict, 'utf8')) === 'start';
}

/** `i_` and 20 characters (100 bits) of the digest of the token and the index in the request. */
export function instanceIdOf(token: string, index: number): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([token, index]))
    .digest();
  const bits = [...digest].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  const digits = Array.from({ length: 20 }, (_, at) =>
    base32.charAt(Number.parseInt(bits.slice(at * 5, at * 5 + 5), 2)),
  );
  return `i_${digits.join('')}`;
}

async function startInstance(
  context: LaunchContext,
  request: LaunchRequest,
  place: Place,
): Promise<{ place: Place; refusal: Refusal | null }> {
  const paths = instancePaths(context.home, place.id);
  const logs = join(logDirectory(context.home, request.owner), place.id);
  const { deploymentId, workspace, cluster } = request.owner;
  const owner = { deploymentId, workspace, cluster };
  const tags: OwnerFile = {
    ...owner,
    slot: place.slot,
    generation: place.generation,
    role: place.role,
    launchedAtMs: Date.now(),
  };
  await mkdir(logs, { recursive: true, mode: 0o700 });
  await writeOnce(paths.owner, JSON.stringify(tags));
  const boot = {
    apiUrl: request.apiUrl,
    launchToken: request.launchToken,
    address: '127.0.0.1',
    cacheDir: join(context.home, 'cache'),
    owner,
  };
  await writeWhole(paths.boot, JSON.stringify(boot));
  const crashed = (): void => context.onCrash?.(owner, place.id);
  const problem = await spawnUntilClaimed(context, place.id, paths, logs, crashed);
  // The agent of another process may have claimed the id meanwhile, and an instance with a tombstone needs no agent.
  if (problem === null || (await exists(paths.claim)) || (await exists(paths.tombstone)))
    return { place, refusal: null };
  return { place, refusal: await refuse(paths, { code: 'AGENT_FAILED', text: problem }) };
}

/** null once any agent has claimed the id; otherwise the problem. */
async function spawnUntilClaimed(
  context: LaunchContext,
  id: string,
  paths: InstancePaths,
  logs: string,
  crashed: () => void,
): Promise<string | null> {
  const output = await open(paths.output, 'a', 0o600);
  const ended: { how: string | null } = { how: null };
  // Without V8's helper threads, an agent has half as much memory to copy for every command it starts.
  const agent = spawn(context.nodePath, ['--single-threaded', context.agentBundle], {
    cwd: paths.root,
    detached: true,
    stdio: ['ignore', output.fd, output.fd],
    env: {
      ...context.environment,
      ROPEWALK_INSTANCE: id,
      ROPEWALK_INSTANCE_DIR: paths.root,
      ROPEWALK_LOG_DIR: logs,
    },
  });
  agent.unref();
  agent.once('error', (error) => (ended.how = `could not be started: ${error.message}`));
  agent.once('exit', (code, signal) => (ended.how ??= `exited at once (${signal ?? `exit code ${code}`})`));
  agent.once('exit', (code) => void (code !== 0 && reportCrash(paths, crashed)));
  try {
    for (const giveUpAtMs = performance.now() + claimTimeoutMs; ; await sleep(claimPollMs)) {
      // The order matters: an agent that claimed its id and then ended counts as launched.
      const { how } = ended;
      if (await exists(paths.claim)) return null;
      if (how !== null) return `The agent ${how}. ${await lastOutput(paths.output)}`.trim();
      if (performance.now() > giveUpAtMs) {
        agent.kill('SIGKILL');
        return `The agent did not start within ${claimTimeoutMs / 1000} s and was ended.`;
      }
    }
  } finally {
    await output.close();
  }
}

/** Reports only an agent that had claimed its id; the launch itself refuses an instance without a claim. */
async function reportCrash(paths: InstancePaths, crashed: () => void): Promise<void> {
  const wasInstance = await exists(paths.claim).catch(() => false);
  if (wasInstance && !(await exists(paths.tombstone).catch(() => true))) crashed();
}

async function lastOutput(path: string): Promise<string> {
  return errorIn(await readFile(path, 'utf8').catch(() => ''));
}

/** Also writes a tombstone: an agent that still starts then ends itself. */
async function refuse(paths: InstancePaths, refusal: Refusal): Promise<Refusal> {
  await writeOnce(paths.refused, JSON.stringify(refusal));
  await writeOnce(paths.tombstone, '');
  return refusal;
}

const hostFull = (limit: number): Refusal => ({
  code: 'HOST_FULL',
  text:
    `This machine runs at most ${limit} instances at a time, and all of them are in use. ` +
    'The rest start when others end. To run more at once, raise ROPEWALK_MAX_LOCAL_INSTANCES (worker.env in temporal-dev.yml).',
});

const launchedInstance = ({ id, slot }: Place, price: InstancePrice): LaunchedInstance => ({
  id,
  slot,
  offer: localOffer.offer,
  zone: localOffer.zone,
  price,
});

function groupRefusals(refusals: Refusal[]): LaunchFailure[] {
  const groups = new Map<string, LaunchFailure>();
  for (const { code, text } of refusals) {
    const known = groups.get(`${code} ${text}`);
    if (known === undefined) groups.set(`${code} ${text}`, { ...localOffer, code, scope: 'cloud', text, count: 1 });
    else known.count += 1;
  }
  return [...groups.values()];
}
