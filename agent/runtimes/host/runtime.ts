// The runtime `host`: commands run on the instance as it is.
import { startProcess } from '../../processes/start-process.ts';
import { defined } from '../inherited-variables.ts';
import type { Runtime } from '../runtime.ts';

export const hostRuntime: Runtime = {
  python: 'python3',
  variables: (inherited, own) => ({ ...defined(inherited), ...own }),
  start: startProcess,
};
