// platform/workflow-vm.ts changes internals of Temporal's SDK: these tests detect an SDK with other internals.
import v8 from 'node:v8';
import vm from 'node:vm';

import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { beforeAll, describe, expect, it } from 'vitest';

import { historyOf } from './workflow-vm-history.ts';

const calls = { all: 0, watched: 0 };
const code = { workflowsPath: new URL('workflow-vm-code.ts', import.meta.url).pathname };

beforeAll(async () => {
  Runtime.install({
    logger: new DefaultLogger('ERROR', () => undefined),
    telemetryOptions: { logging: { forward: {} } },
  });
  const runInContext: vm.Script['runInContext'] = Reflect.get(vm.Script.prototype, 'runInContext');
  vm.Script.prototype.runInContext = function (context, options) {
    calls.all += 1;
    if (options !== undefined && typeof options === 'object' && options.timeout !== undefined) calls.watched += 1;
    return runInContext.call(this, context, options);
  };
  await import('../../platform/workflow-vm.ts');
});

describe('the threads of a Temporal worker', () => {
  it('start no watchdog for what a replay repeats', async () => {
    Object.assign(calls, { all: 0, watched: 0 });
    await Worker.runReplayHistory(code, historyOf('turns', 50));
    // Some calls are for one-time work: a context, a workflow, their end.
    expect(calls.watched).toBeLessThan(15);
    expect(calls.all).toBeGreaterThan(3 * 50);
  });

  it('take no stack traces of promises', async () => {
    let traces = 0;
    const stop = v8.promiseHooks.createHook({ init: () => void (traces += 1) });
    await Promise.resolve();
    stop();
    expect(traces).toBe(0);
  });
});
