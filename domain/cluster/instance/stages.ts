// How an instance comes up, step by step: asked for, launched, running, its agent there, its environment ready, Dask ready.
import { formatDuration } from '../../units.ts';
import type { ClusterInstance } from '../state.ts';
import { type Stage, type StageName, stageNames } from '../statuses.ts';

/** Those it has reached, in order. A job's instance is up with its agent; only a cloud's is known to run before that. */
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

/** `agent 41.2 s, environment 12.0 s`: what each stage took, the longest of these instances. */
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

/**
 * A machine that says for how long it is up has been running since then; a process of a machine that was there before its
 * launch says nothing by that.
 */
export function noteRunning(instance: ClusterInstance, upForMs: number | undefined, nowMs: number): void {
  const { stages } = instance;
  if (upForMs === undefined) return;
  const runningAtMs = nowMs - upForMs;
  if (runningAtMs >= stages.requestedAtMs) stages.runningAtMs = Math.max(runningAtMs, instance.launchedAtMs);
}

/** Dask's process goes from its environment on to `starting`, and is ready when it has `started`. */
export function noteProcess(instance: ClusterInstance, nowMs: number): void {
  const { stages, agent } = instance;
  const process = agent?.process ?? null;
  if (process === null) return;
  if (process.state === 'starting') stages.environmentAtMs ??= nowMs;
  if (process.state === 'started') stages.daskAtMs ??= nowMs;
}

/** For the end of a sentence about these instances; empty when nothing is known. */
export function stagesText(instances: readonly ClusterInstance[]): string {
  const text = describeStages(instances);
  return text === '' ? '' : `; ${instances.length === 1 ? 'it took' : 'the slowest took'}: ${text}`;
}
