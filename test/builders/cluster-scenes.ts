// Longer scenes of a simulated cluster: all its agents fall silent at once, or it settles, or it ends.
import { jobOver } from '../../domain/cluster/plan.ts';
import { massLossMinimum, massLossShare, maxSilentInspections, maxSlotFailures } from '../../domain/cluster/limits.ts';
import { checkState, decide } from './cluster-checks.ts';
import {
  type ClusterSimulation,
  type Effect,
  inspected,
  launched,
  note,
  registerAll,
  stop,
  sendReport,
  terminated,
} from './cluster-inputs.ts';
import { must } from './simulations.ts';

/**
 * All ready instances are silent and suspected, together or one by one. The cluster replaces none of them when its own link is down, nor when the
 * link works and many are silent at once.
 */
export function silence(
  sim: ClusterSimulation,
  { rounds, apart, link }: { rounds: number; apart: boolean; link: boolean },
): void {
  const { rules, state } = sim;
  const live = state.instances.filter((instance) => instance.state !== 'stopping' && instance.state !== 'error');
  // Interrupted instances end in any case.
  const ready = live.filter(({ id, state: is }) => is === 'ready' && !sim.interrupted.has(id));
  const ids = ready.map((instance) => instance.id);
  const isMass = ids.length >= massLossMinimum && ids.length > live.length * massLossShare;
  if (state.stopRequested !== null || ids.length === 0 || (link && !isMass)) return;
  sim.met(link ? 'mass silence' : 'outage');
  // Pending inspections belong to an earlier silence.
  for (const effect of inspections(sim)) inspect(sim, effect, false);
  sim.nowMs += 1_000;
  const heardAtMs = sim.nowMs - 1;
  for (let round = 0; round < rounds; round += 1) {
    for (const group of apart ? ids.map((id) => [id]) : [ids]) {
      const suspects = group.map((instance) => ({ instance, heardAtMs }));
      note(sim, (to) => rules.suspectInstances(to, suspects, sim.nowMs));
      decide(sim);
      for (const effect of inspections(sim)) inspect(sim, effect, link, link ? heardAtMs : null);
      decide(sim);
    }
  }
  const kept = state.instances.filter((instance) => ids.includes(instance.id) && instance.state === 'ready');
  must(kept.length === ids.length, () => `a silence of all ${ids.length} lost ${ids.length - kept.length} of them`);
  must(!link || rounds < maxSilentInspections || state.alarm !== null, () => 'no alarm was raised');
}

type Inspection = Extract<Effect, { kind: 'inspect' }>;

function inspections(sim: ClusterSimulation): Inspection[] {
  return sim.effects.filter((effect) => effect.kind === 'inspect');
}

/** `heardAtMs`: when the API last heard the inspected instances; null when the API is unavailable. */
function inspect(
  sim: ClusterSimulation,
  effect: Inspection,
  linkWorks: boolean,
  heardAtMs: number | null = null,
): void {
  const seen = effect.ids.map((id) => ({ id, state: 'alive' as const }));
  const heard = heardAtMs === null ? [] : effect.ids.map((instance) => ({ instance, heardAtMs, sinceMs: heardAtMs }));
  inspected(sim, effect, { seen, linkWorks, heard, listeningMs: 3_600_000 });
}

/** From any state, the cluster must settle within a bounded number of rounds. */
export function endGame(sim: ClusterSimulation, how: string): void {
  if (how === 'stop') stop(sim, 'STOPPED');
  decide(sim);
  const { target, launches } = sim.state;
  const beyond = launches.flatMap((launch) => launch.slots).filter((slot) => slot >= target).length;
  const bornBefore = sim.born;
  let routine = 0;
  for (let round = 0; ; round += 1) {
    must(round < 160, () => `the cluster does not come to rest: ${JSON.stringify(sim.state)}`);
    for (const effect of sim.effects) answerWell(sim, effect, how === 'ends early');
    decide(sim);
    if (how === 'healthy') registerAll(sim);
    if (how === 'dies young') dieYoung(sim);
    const plan = decide(sim);
    checkState(sim);
    if (sim.effects.length > 0) continue;
    if (plan.wakeAtMs === null) break;
    sim.nowMs = plan.wakeAtMs;
    if (!['dies young', 'ends early'].includes(how)) speakAll(sim);
    const due = sim.rules.planCluster(sim.state, sim.nowMs).decisions;
    // Routine inspections of a job's instances never end; all other deadlines are shorter than a few inspection periods.
    const isStarting = sim.state.instances.some(({ state }) => state === 'starting');
    routine = due.every(({ kind }) => kind === 'inspect') && !isStarting ? routine + 1 : 0;
    if (routine > 3) break;
    decide(sim);
  }
  const made = sim.born - bornBefore;
  must(made <= target * maxSlotFailures + beyond, () => `launched ${made} instances for nothing`);
  checkRest(sim, how);
}

/** `endsEarly`: the inspected instances have ended. */
function answerWell(sim: ClusterSimulation, effect: Effect, endsEarly: boolean): void {
  if (effect.kind === 'inspect' && endsEarly) return allGone(sim, effect);
  if (effect.kind === 'inspect') return inspect(sim, effect, true);
  if (effect.kind === 'terminate') return terminated(sim, effect);
  const slots = effect.slots.map((order) => order.slot);
  const instances = slots.map((slot) => ({ id: `i_${(sim.born += 1)}`, slot, offer: 'local', zone: 'here' }));
  launched(sim, effect, { launched: instances, failures: [] });
}

/** All agents report, which ends every silence. */
function speakAll(sim: ClusterSimulation): void {
  for (const { id, agent, state } of sim.state.instances) {
    if (state === 'ready' && agent !== null)
      sendReport(sim, { instance: id, bootId: agent.bootId, kind: 'alive', address: 'a' });
  }
}

/** Each instance registers, and is terminated at the next inspection. */
function dieYoung(sim: ClusterSimulation): void {
  registerAll(sim);
  const ready = sim.state.instances.filter((instance) => instance.state === 'ready');
  const suspects = ready.map((instance) => ({ instance: instance.id, heardAtMs: sim.nowMs }));
  note(sim, (to) => sim.rules.suspectInstances(to, suspects, sim.nowMs));
  decide(sim);
  for (const effect of inspections(sim)) allGone(sim, effect);
}

function allGone(sim: ClusterSimulation, effect: Inspection): void {
  const seen = effect.ids.map((id) => ({ id, state: 'gone' as const }));
  inspected(sim, effect, { seen, linkWorks: true, heard: [], listeningMs: 3_600_000 });
}

function checkRest(sim: ClusterSimulation, how: string): void {
  const { instances, stopRequested, settings } = sim.state;
  const isAlive = instances.length > 0;
  must(isAlive !== sim.rules.planCluster(sim.state, sim.nowMs).done, () => 'neither alive nor done');
  must(isAlive === (stopRequested === null), () => 'at rest, but neither alive nor stopped');
  must(!['dies young', 'ends early'].includes(how) || !isAlive, () => 'a cluster of the dead goes on');
  if (how === 'healthy' && isAlive) {
    must(sim.rules.clusterStatus(sim.state) === 'ready', () => 'all have started, yet it is not ready');
  }
  if (settings.job === null)
    return must(sim.notified.size + sim.endJobs === 0, () => 'notified a job that does not exist');
  for (const id of sim.lost) must(sim.notified.has(id), () => `the job was never notified that ${id} is lost`);
  const expected = stopRequested !== null && stopRequested.code !== jobOver ? 1 : 0;
  must(sim.endJobs === expected, () => `the job was notified ${sim.endJobs} times that its cluster ends`);
}
