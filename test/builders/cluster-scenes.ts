// Longer scenes of a cluster's world: everybody falls silent at once, and how a cluster comes to rest or to its end.
import { jobOver } from '../../domain/cluster/plan.ts';
import { massLossMinimum, massLossShare, maxSilentInspections, maxSlotFailures } from '../../domain/cluster/limits.ts';
import { checkState, decide } from './cluster-checks.ts';
import {
  type ClusterWorld,
  type Effect,
  inspected,
  launched,
  note,
  registerAll,
  stop,
  tell,
  terminated,
} from './cluster-news.ts';
import { must } from './worlds.ts';

/**
 * All ready instances are silent, told of together or one by one: none may be replaced, neither when our own link is down
 * nor, if they are many, when it works.
 */
export function silence(
  world: ClusterWorld,
  { rounds, apart, link }: { rounds: number; apart: boolean; link: boolean },
): void {
  const { rules, state } = world;
  const live = state.instances.filter((instance) => instance.state !== 'stopping' && instance.state !== 'error');
  // Those that their cloud takes back go anyway.
  const ready = live.filter(({ id, state: is }) => is === 'ready' && !world.interrupted.has(id));
  const ids = ready.map((instance) => instance.id);
  const isMass = ids.length >= massLossMinimum && ids.length > live.length * massLossShare;
  if (state.stopRequested !== null || ids.length === 0 || (link && !isMass)) return;
  world.met(link ? 'mass silence' : 'outage');
  // Looks that were under way belong to an earlier silence; this one is new.
  for (const effect of inspections(world)) look(world, effect, false);
  world.nowMs += 1_000;
  const heardAtMs = world.nowMs - 1;
  for (let round = 0; round < rounds; round += 1) {
    for (const group of apart ? ids.map((id) => [id]) : [ids]) {
      const suspects = group.map((instance) => ({ instance, heardAtMs }));
      note(world, (to) => rules.suspectInstances(to, suspects, world.nowMs));
      decide(world);
      for (const effect of inspections(world)) look(world, effect, link, link ? heardAtMs : null);
      decide(world);
    }
  }
  const kept = state.instances.filter((instance) => ids.includes(instance.id) && instance.state === 'ready');
  must(kept.length === ids.length, () => `a silence of all ${ids.length} lost ${ids.length - kept.length} of them`);
  must(!link || rounds < maxSilentInspections || state.alarm !== null, () => 'nobody was alarmed');
}

type Inspection = Extract<Effect, { kind: 'inspect' }>;

function inspections(world: ClusterWorld): Inspection[] {
  return world.effects.filter((effect) => effect.kind === 'inspect');
}

/** `heardAtMs`: when the API has heard those that it is asked about; null when it cannot be asked. */
function look(world: ClusterWorld, effect: Inspection, linkWorks: boolean, heardAtMs: number | null = null): void {
  const seen = effect.ids.map((id) => ({ id, state: 'alive' as const }));
  const heard = heardAtMs === null ? [] : effect.ids.map((instance) => ({ instance, heardAtMs, sinceMs: heardAtMs }));
  inspected(world, effect, { seen, linkWorks, heard, listeningMs: 3_600_000 });
}

/** However a world has gone so far, from here it must come to rest within a bounded number of rounds. */
export function endGame(world: ClusterWorld, how: string): void {
  if (how === 'stop') stop(world, 'STOPPED');
  decide(world);
  const { target, launches } = world.state;
  const beyond = launches.flatMap((launch) => launch.slots).filter((slot) => slot >= target).length;
  const bornBefore = world.born;
  let routine = 0;
  for (let round = 0; ; round += 1) {
    must(round < 160, () => `the cluster does not come to rest: ${JSON.stringify(world.state)}`);
    for (const effect of world.effects) answerWell(world, effect);
    decide(world);
    if (how === 'healthy') registerAll(world);
    if (how === 'dies young') dieYoung(world);
    const plan = decide(world);
    checkState(world);
    if (world.effects.length > 0) continue;
    if (plan.wakeAtMs === null) break;
    world.nowMs = plan.wakeAtMs;
    if (how !== 'dies young') speakAll(world);
    const due = world.rules.planCluster(world.state, world.nowMs).decisions;
    // Routine inspections of a job's instances never end: all other deadlines are shorter than a few of their periods.
    const isStarting = world.state.instances.some(({ state }) => state === 'starting');
    routine = due.every(({ kind }) => kind === 'inspect') && !isStarting ? routine + 1 : 0;
    if (routine > 3) break;
    decide(world);
  }
  const made = world.born - bornBefore;
  must(made <= target * maxSlotFailures + beyond, () => `launched ${made} instances for nothing`);
  checkRest(world, how);
}

function answerWell(world: ClusterWorld, effect: Effect): void {
  if (effect.kind === 'inspect') return look(world, effect, true);
  if (effect.kind === 'terminate') return terminated(world, effect);
  const slots = effect.slots.map((order) => order.slot);
  const instances = slots.map((slot) => ({ id: `i_${(world.born += 1)}`, slot, offer: 'local', zone: 'here' }));
  launched(world, effect, { launched: instances, failures: [] });
}

/** Agents report, so that no instance is silent. */
function speakAll(world: ClusterWorld): void {
  for (const { id, agent, state } of world.state.instances) {
    if (state === 'ready' && agent !== null)
      tell(world, { instance: id, bootId: agent.bootId, kind: 'alive', address: 'a' });
  }
}

/** Each registers, and is gone at the next look. */
function dieYoung(world: ClusterWorld): void {
  registerAll(world);
  const ready = world.state.instances.filter((instance) => instance.state === 'ready');
  const suspects = ready.map((instance) => ({ instance: instance.id, heardAtMs: world.nowMs }));
  note(world, (to) => world.rules.suspectInstances(to, suspects, world.nowMs));
  decide(world);
  for (const effect of inspections(world)) {
    const seen = effect.ids.map((id) => ({ id, state: 'gone' as const }));
    inspected(world, effect, { seen, linkWorks: true, heard: [], listeningMs: 3_600_000 });
  }
}

function checkRest(world: ClusterWorld, how: string): void {
  const { instances, stopRequested, settings } = world.state;
  const isAlive = instances.length > 0;
  must(isAlive !== world.rules.planCluster(world.state, world.nowMs).done, () => 'neither alive nor done');
  must(isAlive === (stopRequested === null), () => 'at rest, but neither alive nor stopped');
  must(how !== 'dies young' || !isAlive, () => 'a cluster of the dead goes on');
  if (how === 'healthy' && isAlive) {
    must(world.rules.clusterStatus(world.state) === 'ready', () => 'all have started, yet it is not ready');
  }
  if (settings.job === null) return must(world.told.size + world.endJobs === 0, () => 'told a job that is not there');
  for (const id of world.lost) must(world.told.has(id), () => `the job was never told that ${id} is lost`);
  const tells = stopRequested !== null && stopRequested.code !== jobOver ? 1 : 0;
  must(world.endJobs === tells, () => `the job was told ${world.endJobs} times that its cluster ends`);
}
