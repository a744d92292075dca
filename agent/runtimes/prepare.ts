// Prepares the runtime that a specification names.
import type { RuntimeSpec } from '../../schema/runtime.ts';
import { prepareContainer } from './container/prepare.ts';
import { prepareEnvironment } from './environment/prepare.ts';
import type { PrepareInput } from './environment/prepare.ts';
import { hostRuntime } from './host/runtime.ts';
import type { Runtime } from './runtime.ts';

/** Rejects with the reason why the runtime is unavailable here, or with the stop order's reason. */
export async function prepareRuntime(spec: RuntimeSpec, input: PrepareInput): Promise<Runtime> {
  switch (spec.kind) {
    case 'host':
      return hostRuntime(input.user);
    case 'environment':
      return prepareEnvironment(spec, input);
    case 'container':
      return prepareContainer(spec, input);
  }
}
