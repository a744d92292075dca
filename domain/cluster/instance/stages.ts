// The stages of an instance's start: requested, launched, running, agent registered, environment ready, Dask ready.
import { formatDuration } from '../../units.ts';
import type { ClusterInstance } from '../state.ts';
import { type Stage, type StageName, stageNames } from '../statuses.ts';

/** The reached stages, in order. A job's instance is up with its agent; only a cloud's instance is known to run before that. */
export function stagesOf({ stages, launchedAtMs, agent }: ClusterInstance): Stage[] {
  const times: Record<StageName, number | undefined> = {
    requested: stages.requestedAtMs,
    launched: launchedAtMs,
    running: stages.runningAtMs,
    agent: agent?.registeredAtMs,
    environment: stages.environmentAtMs,
    dask: stages.daskAtMs,
  };
  return stageNames.flatMap((name) => {
    const atMs = times[name];
    return atMs === undefined ? [] : [{ name, atMs }];
  });
}

/** `agent 41.2 s, environment 12.0 s`: the longest time of each stage among these instances. */
function describeStages(instances: readonly ClusterInstance[]): string {
  const longestMs = new Map<StageName, number>();
  for (const instance of instances) {
    const stages = stagesOf(instance);
    for (const [at, { name, atMs }] of stages.entries()) {
      const before = stages[at - 1];
      if (before !== undefined) longestMs.set(name, Math.max(longestMs.get(name) ?? 0, atMs - before.atMs));
    }
  }
  return stageNames
    .flatMap((name) => {
      const ms = longestMs.get(name);
      return ms === undefined ? [] : [`${name} ${formatDuration(ms)}`];
    })
    .join(', ');
}

/** Derives the `running` stage from the machine's uptime. The uptime of a machine that existed before the launch, as on a host, proves nothing. */
export function noteRunning(instance: ClusterInstance, upForMs: number | undefined, nowMs: number): void {
  const { stages } = instance;
  if (upForMs === undefined) return;
  const runningAtMs = nowMs - upForMs;
  if (runningAtMs >= stages.requestedAtMs) stages.runningAtMs = Math.max(runningAtMs, instance.launchedAtMs);
}

/** Dask's process leaves its environment stage with `starting`, and is ready with `started`. */
export function noteProcess(instance: ClusterInstance, nowMs: number): void {
  const { stages, agent } = instance;
  const process = agent?.process ?? null;
  if (process === null) return;
  if (process.state === 'starting') stages.environmentAtMs ??= nowMs;
  if (process.state === 'started') stages.daskAtMs ??= nowMs;
}

/** The end of a sentence about these instances; empty when no stage is known. */
export function stagesText(instances: readonly ClusterInstance[]): string {
  const text = describeStages(instances);
  return text === '' ? '' : `; ${instances.length === 1 ? 'it took' : 'the slowest took'}: ${text}`;
}
