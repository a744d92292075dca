// `ropewalk config ...` belongs to the Python package: Dask's configuration holds the defaults of its `Cluster`. These commands
// print that.
import { Command } from 'commander';

import { UsageError } from '../errors.ts';

/** Commands of the wheel that this program lacks. */
export const configCommands = ['list', 'set', 'unset'] as const;

export const configCommand = (name: (typeof configCommands)[number]): Command =>
  new Command(name)
    .description(`In the Python package: ropewalk config ${name}.`)
    .argument('[words...]')
    .allowUnknownOption()
    .helpOption(false)
    .action(() => {
      throw new UsageError(
        `ropewalk config ${name} is in the Python package: Dask's configuration has the defaults of ropewalk.Cluster`,
        'Edit ~/.config/dask/ropewalk.yaml (docs/cluster-options.md), or pip install ./python, then python -m ropewalk config. ' +
          'Defaults of the workspace: ropewalk workspace defaults.',
      );
    });
