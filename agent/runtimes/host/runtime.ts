// The runtime `host`: commands run directly on the instance.
import { startProcess } from '../../processes/start-process.ts';
import { type TaskUser, variablesOf } from '../../processes/task-user.ts';
import { defined } from '../inherited-variables.ts';
import type { Runtime } from '../runtime.ts';

/** `user` runs the commands; null for the agent's own user. */
export const hostRuntime = (user: TaskUser | null): Runtime => ({
  python: 'python3',
  variables: (inherited, own) => ({ ...defined(inherited), ...variablesOf(user), ...own }),
  start: (command, options) => startProcess(user === null ? command : { ...command, user }, options),
});
