// Loaded by `node --import` into a Temporal worker before the product's unchanged worker.ts: every worker that is created there
// gets one more activity interceptor, which injects the planned faults.
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

import { Context } from '@temporalio/activity';
import { Worker } from '@temporalio/worker';
import type { ActivityExecuteInput, ActivityInboundCallsInterceptor } from '@temporalio/worker';

import { boundaryName, faultFiles, faultKinds, faultsVariable } from './faults.ts';
import type { Fault, FaultFiles } from './faults.ts';

const planned: ReadonlySet<string> = new Set(faultKinds);

type Next = (input: ActivityExecuteInput) => Promise<unknown>;

/** Shorter than the shortest start-to-close timeout: an attempt that waits here does not time out. */
const waitForPlanMs = 4_000;
const waitForDoneMs = 3_000;

const root = process.env[faultsVariable];
if (root === undefined) throw new Error(`${faultsVariable} is not set`);
const files = faultFiles(root);

const create = Worker.create.bind(Worker);
Worker.create = (options) =>
  create({
    ...options,
    // The stack calls a worker healthy when its own child polls (ops/pollers.ts): that child is the nurse, this process's parent.
    identity: `${process.ppid}@${hostname()}`,
    interceptors: {
      ...options.interceptors,
      // The last interceptor is the innermost: no product code runs between it and the effect.
      activity: [...(options.interceptors?.activity ?? []), () => ({ inbound: interceptor })],
    },
  });

const interceptor: ActivityInboundCallsInterceptor = {
  execute: async (input, next) => {
    const { workflowExecution, activityType, activityId, attempt } = Context.current().info;
    const workflowId = workflowExecution?.workflowId ?? '';
    const [kind = '', key = ''] = workflowId.split('/');
    if (!planned.has(kind)) return next(input);
    const nth = files.ordinal(workflowId, activityType, activityId);
    const plan = await planOf(files, key);
    const here = plan.find((each) => boundaryName(each) === `${kind}.${activityType}#${nth}`);
    if (here === undefined) return next(input);
    const fired = files.read('fired', here.id);
    if (fired === null) return disturbed(here, attempt, input, next);
    const answer = await next(input);
    files.note('recovered', here.id, now(attempt));
    return answer;
  },
};

async function disturbed(fault: Fault, attempt: number, input: ActivityExecuteInput, next: Next): Promise<unknown> {
  const fire = (): boolean => files.fire(fault.id, now(attempt));
  switch (fault.mode) {
    case 'kill before':
      if (fire()) die();
      return next(input);
    case 'kill after': {
      const answer = await next(input);
      if (fire()) die();
      return answer;
    }
    case 'kill answered': {
      const answer = await next(input);
      // Long enough to send the answer, and often for the following workflow task to begin.
      if (fire()) setTimeout(die, 5 + Math.random() * 150);
      return answer;
    }
    case 'twice':
      if (fire()) await next(input);
      return next(input);
    case 'at once': {
      if (!fire()) return next(input);
      const [answer] = await Promise.all([next(input), next(input)]);
      return answer;
    }
    case 'fail before':
      if (fire()) throw new Error('injected: it failed before its effect');
      return next(input);
    case 'fail after': {
      const answer = await next(input);
      if (fire()) throw new Error('injected: it failed after its effect');
      return answer;
    }
    case 'stop':
    case 'api':
    case 'server': {
      if (fire()) await until(() => files.read('done', fault.id) !== null, waitForDoneMs);
      return next(input);
    }
  }
}

function die(): void {
  process.kill(process.pid, 'SIGKILL');
}

const now = (attempt: number): { attempt: number; atMs: number; pid: number } => ({
  attempt,
  atMs: Date.now(),
  pid: process.pid,
});

/** The matrix learns the number of a job a moment later than the job's workflow. */
async function planOf(of: FaultFiles, key: string): Promise<Fault[]> {
  await until(() => of.readPlan(key) !== null, waitForPlanMs);
  const plan = of.readPlan(key);
  if (plan === null) throw new Error(`nothing is planned for ${key} yet`);
  return plan;
}

async function until(isSo: () => boolean, withinMs: number): Promise<void> {
  for (const endMs = Date.now() + withinMs; !isSo() && Date.now() < endMs;) await sleep(10);
}
