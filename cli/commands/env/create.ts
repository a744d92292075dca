// `ropewalk env create`: points a name to a Python environment or an image. uv on the user's machine, which can access private
// indexes, resolves the versions; the control plane never runs code of a package.
import { Command } from 'commander';

import type { PutEnvironment } from '../../../sdk/client.ts';
import { collect } from '../../arguments.ts';
import { readConda } from '../../conda.ts';
import type { ContainerFlags } from '../../containers.ts';
import { containerOf } from '../../containers.ts';
import type { CliContext, ConnectionFlags, Finish, FormatFlag } from '../../context.ts';
import { connect, withConnection, withFormat } from '../../context.ts';
import { exitCodes, UsageError } from '../../errors.ts';
import { lockedBy, type LockSource } from '../../lock.ts';
import { readTextFile } from '../../text-file.ts';

interface CreateFlags extends ConnectionFlags, FormatFlag, ContainerFlags {
  pip?: string[];
  requirements?: string;
  pyproject?: string;
  lock?: string;
  conda?: string;
  python?: string;
  resolve: boolean;
}

export function createEnvironmentCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('create')
    .description(
      'Create a named environment, or change what its name points to. Versions are resolved by uv on this machine.',
    )
    .argument('<name>', 'name, for --software')
    .option('--pip <spec>', 'package, e.g. pandas==2.3.1 (repeatable)', collect)
    .option('--requirements <path>', 'requirements.txt')
    .option('--pyproject <path>', "pyproject.toml: its project's dependencies")
    .option('--lock <path>', 'uv.lock of a project: its packages as they are locked')
    .option('--container <image>', 'image of a container instead')
    .option('--ignore-container-entrypoint <yes>', 'true: without the entrypoint of the image')
    .option('--registry-auth <path>', "file with credentials of the image's registry, as Docker's config.json")
    .option('--conda <path>', 'environment.yml of conda: its packages under their names on the package index')
    .option('--python <version>', 'version of Python, e.g. 3.12')
    .option(
      '--no-resolve',
      'keep the requirements as they are written: each instance resolves them when it builds the environment',
    );
  return withFormat(withConnection(command)).action(async (name: string, flags: CreateFlags) => {
    const client = await connect(context, flags);
    const environment = await client.environments.set(name, await contentOf(context, flags));
    if (flags.format === 'json') context.output.json(environment);
    else context.output.out(`Environment ${name} has version ${environment.version}: ${environment.summary}`);
    context.output.err(`Use it: ropewalk batch run --software ${name} ...`);
    finish(exitCodes.ok);
  });
}

async function contentOf(context: CliContext, flags: CreateFlags): Promise<PutEnvironment> {
  const { pip = [], requirements, pyproject, lock, conda, python, container } = flags;
  const sources = { pip: pip.length > 0, requirements, pyproject, lock, conda, container };
  const named = Object.entries(sources).filter(([, value]) => value !== undefined && value !== false);
  const [first] = named;
  if (first === undefined || named.length > 1) {
    throw new UsageError('Give one of --pip, --requirements, --pyproject, --lock, --conda and --container.');
  }
  if (container !== undefined) return containerOf(context, flags);
  const ofConda =
    conda === undefined ? undefined : await readConda(await readTextFile('--conda', conda, context.cwd), conda);
  const version = python ?? ofConda?.python;
  const source: LockSource = ofConda === undefined ? sourceOf(flags) : { kind: 'lines', lines: ofConda.requirements };
  const locked = await lockedBy(source, { python: version, resolve: flags.resolve }, context);
  return { software: { ...locked, ...(version !== undefined && { python: version }) } };
}

function sourceOf({ pip = [], requirements, pyproject, lock }: CreateFlags): LockSource {
  if (lock !== undefined) return { kind: 'lock', path: lock };
  const path = requirements ?? pyproject;
  return path === undefined ? { kind: 'lines', lines: pip } : { kind: 'file', path };
}
