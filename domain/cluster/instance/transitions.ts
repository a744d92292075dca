// The state transitions of an instance. Each keeps the object, because others hold references to it, and replaces its fields by those of the new
// state.
import { unknownPrice } from '../../cost/interval.ts';
import type { Reason } from '../../reason.ts';
import type { LaunchedInstance } from './launched.ts';
import type {
  ClusterInstance,
  EndingInstance,
  Launch,
  ReadyInstance,
  RegisteredAgent,
  StartingInstance,
} from '../state.ts';

export function launchedInstance(
  launch: Launch,
  { id, slot, offer, zone, price = unknownPrice, hasLaterPrices }: LaunchedInstance,
  generation: number,
  nowMs: number,
): StartingInstance {
  const role = slot === 0 ? 'head' : 'worker';
  const market = launch.placement?.[role].market ?? 'on-demand';
  return {
    ...{ id, slot, generation, role, offer, zone, market, price },
    ...{ launchSeq: launch.seq, launchedAtMs: nowMs, stages: { requestedAtMs: launch.atMs } },
    ...{ state: 'starting', agent: null, lateness: null },
    ...(hasLaterPrices === true ? { later: [] } : {}),
  };
}

/** Its agent registered. */
export function becomeReady(instance: StartingInstance, agent: RegisteredAgent): void {
  const next: ReadyInstance = {
    ...{ ...common(instance), state: 'ready', agent, heardAtMs: agent.registeredAtMs, suspicion: null },
  };
  become(instance, next);
}

/** It is lost, or its termination begins. The first reason is kept. */
export function becomeEnding(instance: ClusterInstance, state: EndingInstance['state'], reason: Reason): void {
  const { agent } = instance;
  const first = isEnding(instance) ? instance.reason : reason;
  const next: EndingInstance = { ...common(instance), state, agent, reason: first };
  become(instance, next);
}

/** Lost, or being terminated. */
export const isEnding = (instance: ClusterInstance): instance is EndingInstance =>
  instance.state === 'error' || instance.state === 'stopping';

/** Why the instance ends; null while it does not. */
export const endReason = (instance: ClusterInstance): Reason | null => (isEnding(instance) ? instance.reason : null);

function common(instance: ClusterInstance) {
  const { id, slot, generation, role, offer, zone, market, price, later, launchSeq, launchedAtMs, stages } = instance;
  const own = { id, slot, generation, role, offer, zone, market, price, launchSeq, launchedAtMs, stages };
  return later === undefined ? own : { ...own, later };
}

function become(instance: ClusterInstance, next: ClusterInstance): void {
  for (const key of Object.keys(instance)) if (!(key in next)) Reflect.deleteProperty(instance, key);
  Object.assign(instance, next);
}
