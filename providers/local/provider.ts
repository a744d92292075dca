// The local provider: an "instance" is an agent process on this machine. Its state is the files of $ROPEWALK_HOME/instances and
// the kernel's process table, so every process sees the same state.
import { availableParallelism } from 'node:os';

import type { InstancePrice } from '../../domain/cost/interval.ts';
import { removeEndedEveryMs } from './limits.ts';
import type { LaunchRequest, Owner, Provider } from '../provider.ts';
import { describeInstances, listInstances } from './describe.ts';
import { removeEnded } from './ended-instances.ts';
import { agentEnvironment } from './environment.ts';
import { admitLaunch, type LaunchContext, startAdmitted } from './launch.ts';
import { readLogs } from './logs.ts';
import { localOffers, localPrice } from './offers.ts';
import { terminateInstances } from './terminate.ts';

export interface LocalProviderOptions {
  /** ROPEWALK_HOME. */
  home: string;
  /** Path of the agent's bundled file (agent/build.ts). */
  agentBundle: string;
  /** Path of the Node.js that runs the agent. */
  nodePath: string;
  /** Maximum number of running instances in this home. */
  maxInstances: number;
  /** Hourly price of an instance. Default: 0. */
  price?: InstancePrice;
  /** How long a launch waits in line for instances to end before it returns HOST_FULL. Default: it does not wait. */
  waitForRoomMs?: number;
  /** Cores that this machine offers. Default: all. */
  cores?: number;
  /** Source of the agents' PATH, HOME, LANG, TMPDIR, proxies, TLS and package index; no other variable is read. */
  environment?: Readonly<Record<string, string | undefined>>;
  /**
   * Called when an agent that this process started has crashed, before its lease expires. Only a hint: agents of a previous
   * process are not children of this one, and their crash is detected when their lease expires.
   */
  onCrash?: (owner: Owner, id: string) => void;
}

/** A provider whose instances are processes of this machine. */
export function createLocalProvider(options: LocalProviderOptions): Provider {
  const context: LaunchContext = {
    ...options,
    price: options.price ?? localPrice(undefined),
    environment: agentEnvironment(options.environment ?? {}, options.nodePath),
    ended: new Set(),
    starting: new Set(),
  };
  let lastAdmission: Promise<unknown> = Promise.resolve();
  // Only launches add directories, so old ones are removed after an admission, before the next admission starts.
  const round = { dueMs: 0, after: '' };
  const removeOld = async (): Promise<void> => {
    if (performance.now() < round.dueMs) return;
    round.dueMs = performance.now() + removeEndedEveryMs;
    round.after = await removeEnded(options.home, round.after, Date.now()).catch(() => '');
  };
  const launch = (request: LaunchRequest): ReturnType<Provider['launch']> => {
    // Counted from the request: a launch in a long line must be answered in time.
    const giveUpAtMs = performance.now() + (options.waitForRoomMs ?? 0);
    const admission = lastAdmission.then(() => admitLaunch(context, request, giveUpAtMs));
    lastAdmission = admission.then(removeOld, removeOld);
    return admission.then((admitted) => startAdmitted(context, request, admitted));
  };
  return {
    name: 'local',
    offers: async () => localOffers(options.cores ?? availableParallelism(), options.price),
    launch,
    describe: (owner, ids) => describeInstances(context, owner, ids),
    list: (deploymentId) => listInstances(context, deploymentId),
    terminate: (owner, ids, signal) => terminateInstances(options.home, owner, ids, signal),
    // An instance has no resources outside its directory, which is removed a while after its end.
    listResources: async () => [],
    deleteResources: async () => undefined,
    logs: (query) => readLogs(options.home, query),
  };
}
