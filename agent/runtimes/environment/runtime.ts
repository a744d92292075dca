// The runtime `environment`: commands run on the instance, with the programs of a Python environment first on the PATH.
import { join } from 'node:path';

import { startProcess } from '../../processes/start-process.ts';
import { defined } from '../inherited-variables.ts';
import { leftOutVariable } from './left-out.ts';
import type { Runtime } from '../runtime.ts';

/** `directory`: an environment that is complete; `leftOut`: the path of a file of hints, if there are any. */
export function environmentRuntime(directory: string, leftOut: string | null = null): Runtime {
  const bin = join(directory, 'bin');
  return {
    python: join(bin, 'python'),
    variables: (inherited, own) => {
      const base = defined(inherited);
      const path = [bin, base['PATH'] ?? ''].filter((part) => part !== '').join(':');
      const hints = leftOut === null ? {} : { [leftOutVariable]: leftOut };
      return { ...base, PATH: path, ...own, VIRTUAL_ENV: directory, ...hints };
    },
    start: startProcess,
  };
}
