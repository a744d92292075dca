// Selects the Python of a `cluster exec` command: the one on the user's PATH, or the cluster's own environment, built on this
// machine from the same requirements and files. Client and cluster exchange pickles, so their versions of distributed must match.
import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

import type { EnvironmentSpec, PackageFile } from '../../schema/software.ts';
import type { CliContext } from '../context.ts';
import { CommandError } from '../errors.ts';

/** `undefined`: builds the environment when the command begins with a Python whose distributed differs from the cluster's. */
export type WantsEnvironment = boolean | undefined;

export interface EnvironmentRequest {
  words: readonly string[];
  /** From the cluster's creator; null when its processes run without their own environment. */
  environment: EnvironmentSpec | null;
  fetchPackageFile: (file: PackageFile) => Promise<Uint8Array>;
  wants: WantsEnvironment;
  signal: AbortSignal;
}

/** Variables that put the environment's programs first on the PATH; none when the command runs with the user's Python. */
export async function environmentVariables(
  context: Pick<CliContext, 'env' | 'cwd' | 'home' | 'output'>,
  request: EnvironmentRequest,
): Promise<Record<string, string>> {
  if (request.wants === false) return {};
  // Loaded only here: no other command may depend on the agent's code.
  const { EnvironmentError } = await import('../../agent/runtimes/environment/errors.ts');
  try {
    return await chooseVariables(context, request);
  } catch (error) {
    if (!(error instanceof EnvironmentError)) throw error;
    throw new CommandError(
      `cannot build the cluster's environment on this machine: ${error.message}`,
      "Install what is missing; or use --no-environment with a Python that has the cluster's distributed.",
    );
  }
}

async function chooseVariables(
  context: Pick<CliContext, 'env' | 'cwd' | 'home' | 'output'>,
  { words: [program = ''], environment, fetchPackageFile, wants, signal }: EnvironmentRequest,
): Promise<Record<string, string>> {
  if (environment === null) {
    if (wants === undefined) return {};
    throw new CommandError('the cluster has no Python environment of its own', 'Leave --environment out.');
  }
  const { withDefaults } = await import('../../agent/runtimes/environment/with-defaults.ts');
  const complete = {
    ...environment,
    requirements: withDefaults(environment.requirements, environment.pinned, environment.packageFiles),
  };
  if (wants === undefined) {
    const missing = await missingHere(program, complete.requirements, context);
    if (missing === null) return {};
    context.output.err(`note: ${missing}; using the cluster's environment (--no-environment uses yours)`);
  }
  const { directory, modules } = await build({ ...complete, fetchPackageFile, signal }, context);
  const programs = join(directory, 'bin');
  if (isPython(program) && !(await isExecutable(join(programs, program)))) {
    throw new CommandError(`the cluster's environment has no ${program}`, 'Write python, or use --no-environment.');
  }
  const path = [programs, context.env['PATH'] ?? ''].join(delimiter);
  return { PATH: path, VIRTUAL_ENV: directory, ...(modules === null ? {} : { ROPEWALK_MODULES: modules }) };
}

/** Why the user's Python cannot be a client of the cluster; null when it can, or when the command is not a Python. */
async function missingHere(
  program: string,
  requirements: readonly string[],
  { env, cwd }: Pick<CliContext, 'env' | 'cwd'>,
): Promise<string | null> {
  // A path selects a particular interpreter, which is used unchanged.
  if (!isPython(program)) return null;
  const pinned = requirements.map((each) => /^distributed==([^,;*\s]+)$/.exec(each)?.[1]).find(Boolean);
  const found = await promisify(execFile)(program, ['-c', versionOfDistributed], { env, cwd, timeout: 30_000 }).then(
    ({ stdout }) => stdout.trim(),
    () => null,
  );
  if (found === null) return `${program} has no distributed${pinned === undefined ? '' : ` ${pinned}`}`;
  return pinned === undefined || found === pinned ? null : `${program} has distributed ${found}, the cluster ${pinned}`;
}

/** Excludes modules of the current directory, which the command itself may not import either. */
const versionOfDistributed =
  'import sys; sys.path = [each for each in sys.path if each]; from importlib.metadata import version; print(version("distributed"))';

const isPython = (program: string): boolean => /^python(3(\.\d+)?)?$/.test(program);

/** In the home, where the agents of `ropewalk dev` build theirs: equal requirements are built once. */
async function build(
  { python, ...environment }: EnvironmentSpec & Pick<EnvironmentRequest, 'fetchPackageFile' | 'signal'>,
  { env, home, output }: Pick<CliContext, 'env' | 'home' | 'output'>,
): Promise<{ directory: string; modules: string | null }> {
  const { ensureEnvironment } = await import('../../agent/runtimes/environment/environment.ts');
  return ensureEnvironment({
    cacheDir: join(home, 'cache'),
    ...environment,
    pythonPath: 'python3',
    pythonVersion: python,
    environment: env,
    onStage: (stage) => {
      if (stage !== 'ready') output.progress(`Building the cluster's environment on this machine: ${stage}`);
    },
  });
}

const isExecutable = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
