// Options of `coiled batch run` that Ropewalk does not have. Existing command lines keep working: these options are sent to the
// server by name. It warns about those without effect, and refuses those that would change the result.
import type { Command } from 'commander';
import { Option } from 'commander';

const withValue = ['dask-container'];

export function withCoiledOptions(command: Command, take: (name: string, value: string) => void): Command {
  for (const name of withValue) {
    command.addOption(new Option(`--${name} <value>`).hideHelp());
    command.on(`option:${name}`, (value: string) => take(name, value));
  }
  return command;
}
