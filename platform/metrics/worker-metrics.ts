// A Temporal worker's metrics: its activities, by type and outcome. The metrics of Temporal's library (slots, polls, workflow
// tasks, latencies) are relayed from its loopback port.
import { createServer } from 'node:net';

import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

import { durationBuckets } from './registry.ts';

export type ActivityOutcome = 'completed' | 'failed' | 'cancelled';

export interface WorkerMetrics {
  activityBegins(type: string): void;
  activityEnds(type: string, outcome: ActivityOutcome, ms: number): void;
  /** Counts a workflow whose workflow task fails repeatedly. */
  stuckWorkflow(type: string, outcome: string): void;
}

export function createWorkerMetrics(registry: Registry): WorkerMetrics {
  const registers = [registry];
  const running = new Gauge({
    name: 'ropewalk_activities_running',
    help: 'Activities that run now.',
    labelNames: ['type'],
    registers,
  });
  const ended = new Counter({
    name: 'ropewalk_activities_total',
    help: 'Attempts of activities, by how they ended.',
    labelNames: ['type', 'outcome'],
    registers,
  });
  const times = new Histogram({
    name: 'ropewalk_activity_duration_seconds',
    help: 'How long attempts of activities took.',
    labelNames: ['type'],
    buckets: durationBuckets,
    registers,
  });
  const stuckWorkflows = new Counter({
    name: 'ropewalk_stuck_workflows_total',
    help: 'Stuck workflows that a check found, by what was done about them.',
    labelNames: ['type', 'outcome'],
    registers,
  });
  return {
    activityBegins: (type) => running.inc({ type }),
    activityEnds: (type, outcome, ms) => {
      running.dec({ type });
      ended.inc({ type, outcome });
      times.observe({ type }, ms / 1_000);
    },
    stuckWorkflow: (type, outcome) => stuckWorkflows.inc({ type, outcome }),
  };
}

/** Temporal's library requires a port number: given 0, it reports neither the chosen port nor when it listens. */
export function freeLoopbackPort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen({ host: '127.0.0.1', port: 0 }, () => {
      const address = server.address();
      server.close(() => {
        if (address === null || typeof address === 'string') reject(new Error('no free port'));
        else resolve(address.port);
      });
    });
  });
}

export async function readTemporalMetrics(port: number): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`, { signal: AbortSignal.timeout(3_000) });
  if (!answer.ok) throw new Error(`Temporal's own metrics answered ${answer.status}`);
  return answer.text();
}
