// Loaded into every thread of a Temporal worker (`node --import`), because the SDK creates the thread that runs the workflows.
// On each call into a workflow the SDK does two things that take four fifths of the processor time: it starts a system thread
// that would end an endless loop, some five times per activation, and it records a stack trace for each promise, which
// Temporal's UI shows as the call stack. With this module one such thread watches a whole activation, and none watches an
// activation that a replay repeats: it ended in time before, and new code is replayed against recorded histories before it is
// deployed. There are no call stacks: the workflow's details and events show its waits. A replay then takes a quarter of the
// time (docs/performance.md), which determines how soon a large workspace answers again after a restart. Without this module
// everything works, only slower.
import v8 from 'node:v8';
import vm from 'node:vm';

import { BaseVMWorkflow } from '@temporalio/worker/lib/workflow/vm-shared.js';

/** The SDK's own default for one call. */
const activationTimeoutMs = 5_000;

function watchActivations(): void {
  const guard = vm.createContext({});
  const script = new vm.Script('run()');
  const runInContext: vm.Script['runInContext'] = Reflect.get(vm.Script.prototype, 'runInContext');
  let isWatched = false;

  vm.Script.prototype.runInContext = function (context, options) {
    if (!isWatched) return runInContext.call(this, context, options);
    const { timeout: _, ...others } = options ?? {};
    return runInContext.call(this, context, others);
  };

  const activate: BaseVMWorkflow['activate'] = Reflect.get(BaseVMWorkflow.prototype, 'activate');
  // A workflow does all work of an activation before this SDK function first waits. An error thrown here fails the workflow
  // task, like any other.
  BaseVMWorkflow.prototype.activate = async function (activation) {
    const run = (): ReturnType<typeof activate> => activate.call(this, activation);
    guard['run'] = run;
    let completion: ReturnType<typeof activate>;
    isWatched = true;
    try {
      completion = activation.isReplaying ? run() : runInContext.call(script, guard, { timeout: activationTimeoutMs });
    } finally {
      isWatched = false;
    }
    return completion;
  };
}

watchActivations();
v8.promiseHooks.createHook = () => () => undefined;
