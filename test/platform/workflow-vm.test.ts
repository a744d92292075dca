// platform/workflow-vm.ts changes what Temporal's SDK does inside: here an SDK that does it otherwise is noticed.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import v8 from 'node:v8';
import vm from 'node:vm';

import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { beforeAll, describe, expect, it } from 'vitest';

import { node24 } from '../support/stack.ts';
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
  it('end a workflow that never comes back, and go on with others', async () => {
    // In a process that can be killed: without its watcher, the workflow would never give this one back.
    const script = fileURLToPath(new URL('workflow-vm-endless.ts', import.meta.url));
    const module = new URL('../../platform/workflow-vm.ts', import.meta.url).href;
    const { stdout } = await promisify(execFile)(node24, ['--import', module, script], {
      timeout: 60_000,
      killSignal: 'SIGKILL',
    });
    expect(stdout.trim().split('\n')).toEqual([expect.stringContaining('timed out after 5000ms'), 'well']);
  });

  it('start one watcher for an activation, not one for each call', async () => {
    Object.assign(calls, { all: 0, watched: 0 });
    await Worker.runReplayHistory(code, historyOf('turns', 50));
    // Some are for what is done once: a context, a workflow, their end.
    expect(calls.watched).toBeLessThan(50 + 15);
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
