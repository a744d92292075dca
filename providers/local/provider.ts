// The local provider: an "instance" is an agent process on this machine. It keeps nothing in memory that matters: the
// files of $ROPEWALK_HOME/instances and the kernel's own process table are the truth, so any process may ask.
import { availableParallelism } from 'node:os';

import { removeEndedEveryMs } from '../../domain/limits.ts';
import type { LaunchRequest, Owner, Provider } from '../provider.ts';
import { describeInstances, listInstances } from './describe.ts';
import { removeEnded } from './ended-instances.ts';
import { agentEnvironment } from './environment.ts';
import { admitLaunch, type LaunchContext, startAdmitted } from './launch.ts';
import { readLogs } from './logs.ts';
import { localOffers } from './offers.ts';
import { terminateInstances } from './terminate.ts';

export interface LocalProviderOptions {
  /** ROPEWALK_HOME. */
  home: string;
  /** Path of the agent's bundled file (agent/build.ts). */
  agentBundle: string;
  /** Path of the Node that runs it. */
  nodePath: string;
  /** Instances that may live at the same time in this home. */
  maxInstances: number;
  /** How long a launch waits, in line, for others to end before it answers HOST_FULL. At once unless given. */
  waitForRoomMs?: number;
  /** Cores this machine offers; all it has when absent. */
  cores?: number;
  /** Where agents' PATH, HOME, LANG, TMPDIR, proxies, TLS and package index come from; nothing else is taken. */
  environment?: Readonly<Record<string, string | undefined>>;
  /**
   * Told when an agent that this process started has crashed, so that nobody has to wait for its lease to expire. No more
   * than a hint: agents of an earlier process are nobody's children, and their silence is noticed as any other.
   */
  onCrash?: (owner: Owner, id: string) => void;
}

/** A provider whose instances are processes of this machine. */
export function createLocalProvider(options: LocalProviderOptions): Provider {
  const context: LaunchContext = {
    ...options,
    environment: agentEnvironment(options.environment ?? {}, options.nodePath),
    ended: new Set(),
    starting: new Set(),
  };
  let lastAdmission: Promise<unknown> = Promise.resolve();
  // What is left grows with launches alone, so it is looked at after one; in their line, so that none is under way meanwhile.
  const round = { dueMs: 0, after: '' };
  const removeOld = async (): Promise<void> => {
    if (performance.now() < round.dueMs) return;
    round.dueMs = performance.now() + removeEndedEveryMs;
    round.after = await removeEnded(options.home, round.after, Date.now()).catch(() => '');
  };
  const launch = (request: LaunchRequest): ReturnType<Provider['launch']> => {
    // Counted from when it was asked for, so that a long line of launches is answered in time all the same.
    const giveUpAtMs = performance.now() + (options.waitForRoomMs ?? 0);
    const admission = lastAdmission.then(() => admitLaunch(context, request, giveUpAtMs));
    lastAdmission = admission.then(removeOld, removeOld);
    return admission.then((admitted) => startAdmitted(context, request, admitted));
  };
  return {
    name: 'local',
    offers: async () => localOffers(options.cores ?? availableParallelism()),
    launch,
    describe: (owner, ids) => describeInstances(context, owner, ids),
    list: (deploymentId) => listInstances(context, deploymentId),
    terminate: (owner, ids, signal) => terminateInstances(options.home, owner, ids, signal),
    // All that an instance has on this machine lies in its own directory, which goes a while after it.
    listBelongings: async () => [],
    removeBelongings: async () => undefined,
    logs: (query) => readLogs(options.home, query),
  };
}
