// `ropewalk notebook ...` belongs to the Python package: a notebook gets the environment of the Python that starts it. These
// commands print that.
import { Command } from 'commander';

import { UsageError } from '../errors.ts';

/** Commands of the wheel that this program lacks. */
export const notebookCommands = ['start', 'list', 'link', 'stop'] as const;

export const notebookCommand = (name: (typeof notebookCommands)[number]): Command =>
  new Command(name)
    .description(`In the Python package: ropewalk notebook ${name}.`)
    .argument('[words...]')
    .allowUnknownOption()
    .helpOption(false)
    .action(() => {
      throw new UsageError(
        `ropewalk notebook ${name} is in the Python package, because a notebook gets the environment of your Python`,
        `Install it in that environment, and use its command: pip install ./python, then python -m ropewalk notebook ${name}. ` +
          'A cluster with Jupyter without it: ropewalk cluster create --jupyter.',
      );
    });
