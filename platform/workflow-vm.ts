// Loaded into every thread of a Temporal worker (`node --import`), for the thread that runs the workflows is the SDK's. On each
// call into a workflow the SDK does two things that take four fifths of the processor time: a thread of the operating system
// is started that would end an endless loop, some five times for one activation, and each promise gets a stack trace, for
// what Temporal's UI shows as the call stack. Here one such thread watches a whole activation, and none watches an activation
// that a replay repeats: it ended in time before, and new code is replayed against recorded histories before it is deployed.
// There are no call stacks: what a workflow waits for, its details and events say. A replay takes a quarter of the time then
// (docs/performance.md), which decides how soon a large workspace answers again. Without this module everything works, only slower.
import v8 from 'node:v8';
import vm from 'node:vm';

import { BaseVMWorkflow } from '@temporalio/worker/lib/workflow/vm-shared.js';

/** As the SDK's own default for one call. */
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
  // Whatever a workflow does in an activation it does before this function of the SDK first waits. An error that is thrown
  // here becomes, as any other, that of the workflow task.
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
