// uv, which builds the environments: a pinned version from the package index, once per machine. It is never taken from the
// PATH, because what another version would do has not been tried.
import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';

import { buildOnce } from './build-once.ts';
import { EnvironmentError } from './errors.ts';
import { runTool, type Tools } from './run-tool.ts';

export const uvVersion = '0.13.8';

/** Path of the program. Safe when several ask at once. */
export async function ensureUv(tools: Tools, python: string): Promise<string> {
  const target = join(tools.cacheDir, 'tools', `uv-${uvVersion}`);
  const programIn = (directory: string): string => join(directory, 'bin', 'uv');
  await buildOnce({
    cacheDir: tools.cacheDir,
    target,
    // A virtual environment cannot be moved, but the program in it can: it is one binary that needs nothing else.
    isComplete: (directory) => isExecutable(programIn(directory)),
    build: async (directory) => {
      const wanted = `uv==${uvVersion}`;
      await step(tools, 'make a virtual environment', python, ['-m', 'venv', directory]);
      const pip = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--only-binary=:all:', wanted];
      await step(tools, `install ${wanted}`, join(directory, 'bin', 'python'), pip);
    },
    signal: tools.signal,
  });
  return programIn(target);
}

export const isExecutable = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );

async function step(tools: Tools, what: string, command: string, args: string[]): Promise<void> {
  const outcome = await runTool(tools, command, args, { timeoutMs: 5 * 60_000 });
  if (outcome.ok) return;
  const hint = 'On Debian and Ubuntu, "python3 -m venv" needs the package python3-venv.';
  throw new EnvironmentError('TOOLS', `Could not ${what} for uv: ${outcome.failure.said}\n${hint}`, {
    cause: outcome.failure.cause,
  });
}
