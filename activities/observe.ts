// Wraps every activity: counts it, and adds its owner and subject to each log line. Input and result pass through unchanged.
import { CancelledFailure } from '@temporalio/activity';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';

import type { ActivityOutcome, WorkerMetrics } from '../platform/metrics/worker-metrics.ts';

export function observeActivities(metrics: WorkerMetrics): ActivityInterceptorsFactory {
  return (context) => {
    const type = context.info.activityType;
    let about: LogFields = {};
    return {
      inbound: {
        execute: async (input, next) => {
          about = fieldsOf(input.args[0], context.info.workflowExecution?.workflowId);
          const startedAtMs = performance.now();
          const ends = (outcome: ActivityOutcome): void =>
            metrics.activityEnds(type, outcome, performance.now() - startedAtMs);
          metrics.activityBegins(type);
          try {
            const result = await next(input);
            ends('completed');
            return result;
          } catch (error) {
            ends(error instanceof CancelledFailure ? 'cancelled' : 'failed');
            throw error;
          }
        },
      },
      outbound: { getLogAttributes: (input, next) => next({ ...input, ...about }) },
    };
  };
}

export interface LogFields {
  workspace?: string;
  cluster?: number;
  job?: number;
}

/** From the activity's input, which names its owner or its subject, or else from the calling workflow. */
export function fieldsOf(input: unknown, workflowId: string | undefined): LogFields {
  const [, kind, number] = /^(job|cluster)\/(\d+)$/.exec(workflowId ?? '') ?? [];
  const byWorkflow = number === undefined ? {} : kind === 'job' ? { job: Number(number) } : { cluster: Number(number) };
  return { ...byWorkflow, ...named(input), ...named(inside(input, 'owner')) };
}

function named(value: unknown): LogFields {
  const workspace = inside(value, 'workspace');
  const cluster = inside(value, 'cluster');
  const job = inside(value, 'job');
  return {
    ...(typeof workspace === 'string' ? { workspace } : {}),
    ...(typeof cluster === 'number' ? { cluster } : {}),
    ...(typeof job === 'number' ? { job } : {}),
  };
}

const inside = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Object.getOwnPropertyDescriptor(value, name)?.value : undefined;
