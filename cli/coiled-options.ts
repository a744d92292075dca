// Options of `coiled batch run` that Ropewalk does not have. Existing command lines keep working: these options are sent to the
// server by name. It warns about those without effect, and refuses those that would change the result.
import type { Command } from 'commander';
import { Option } from 'commander';

const withValue = [
  'workspace',
  'software',
  'container',
  'ignore-container-entrypoint',
  'run-on-host',
  'map-over-values',
  'map-over-file',
  'map-over-input-var',
  'map-over-delimiter',
  'download',
  'sync',
  'input-filestore',
  'output-filestore',
  'scheduler-sidecar-spec',
  'scheduler-task-array',
  'package-sync-conda-extras',
  'package-sync-ignore',
  'host-setup-script',
  'dask-container',
];
const flags = [
  'pipe-to-files',
  'task-on-scheduler',
  'no-task-on-scheduler',
  'wait-for-ready-cluster',
  'forward-aws-credentials',
  'package-sync-strict',
];

export function withCoiledOptions(command: Command, take: (name: string, value: string) => void): Command {
  for (const name of withValue) {
    command.addOption(new Option(`--${name} <value>`).hideHelp());
    command.on(`option:${name}`, (value: string) => take(name, value));
  }
  for (const name of flags) {
    command.addOption(new Option(`--${name}`).hideHelp());
    command.on(`option:${name}`, () => take(name, ''));
  }
  command.addOption(new Option('-t, --tag <pair>').hideHelp());
  command.on('option:tag', (value: string) => take('tag', value));
  return command;
}
