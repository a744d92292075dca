// The runtime `environment`: commands run on the instance, with the programs of a Python environment first on the PATH.
import { join } from 'node:path';

import type { TaskUser } from '../../processes/task-user.ts';
import { hostRuntime } from '../host/runtime.ts';
import { leftOutVariable } from './left-out.ts';
import { modulesVariable } from './modules-path.ts';
import type { Runtime } from '../runtime.ts';

export interface EnvironmentPlace {
  /** Directory of a complete environment. */
  directory: string;
  /** The path of the file of hints, if any. */
  leftOut: string | null;
  /** A directory of modules that are first on Python's path, if any. */
  modules: string | null;
  /** The commands' user; null for the agent's own. */
  user: TaskUser | null;
}

export function environmentRuntime({ directory, leftOut, modules, user }: EnvironmentPlace): Runtime {
  const bin = join(directory, 'bin');
  const host = hostRuntime(user);
  return {
    python: join(bin, 'python'),
    variables: (inherited, own) => {
      const base = host.variables(inherited, {});
      const path = [bin, base['PATH'] ?? ''].filter((part) => part !== '').join(':');
      const hints = leftOut === null ? {} : { [leftOutVariable]: leftOut };
      const found = modules === null ? {} : { [modulesVariable]: modules };
      return { ...base, PATH: path, ...own, VIRTUAL_ENV: directory, ...hints, ...found };
    },
    start: host.start,
  };
}
