// The Python environment of a cluster or a job, as options of the command line.
import type { Command } from 'commander';

import type { CreateCluster } from '../sdk/client.ts';
import { collect } from './arguments.ts';
import type { CliContext } from './context.ts';
import { readTextFile } from './text-file.ts';

export interface SoftwareFlags {
  requirement?: string[];
  requirementsFile?: string[];
  python?: string | undefined;
  software?: string;
}

/** `whose`: "its Python environment", for the help. */
export const withSoftware = (command: Command, whose: string): Command =>
  command
    .option('--software <name>', 'named environment (ropewalk env list)')
    .option('--requirement <spec>', `package of ${whose}, e.g. pandas==2.3.1 (repeatable)`, collect)
    .option('--requirements-file <path>', 'file with one requirement per line (repeatable)', collect)
    .option('--python <version>', `version of Python of ${whose}, e.g. 3.12`);

/** The field of a request that names an environment. */
export const softwareNameOf = ({ software }: SoftwareFlags): Pick<CreateCluster, 'softwareName'> =>
  software === undefined ? {} : { softwareName: software };

/** Undefined when no option was given. Throws UsageError. */
export async function softwareOf(
  { cwd }: Pick<CliContext, 'cwd'>,
  flags: SoftwareFlags,
): Promise<CreateCluster['software']> {
  const files = await Promise.all((flags.requirementsFile ?? []).map((path) => readRequirements(path, cwd)));
  const requirements = [...files.flat(), ...(flags.requirement ?? [])];
  if (requirements.length === 0 && flags.python === undefined) return undefined;
  return { requirements, ...(flags.python !== undefined && { python: flags.python }) };
}

/** Lines without comments. The server refuses options of pip (`-r other.txt`) and names the line. */
async function readRequirements(path: string, cwd: string): Promise<string[]> {
  const text = await readTextFile('--requirements-file', path, cwd);
  return text
    .split('\n')
    .map((line) => line.replace(/(^|\s)#.*/, '').trim())
    .filter((line) => line !== '');
}
