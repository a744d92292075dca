// uv, which builds the environments: a pinned version from the package index, once per machine. It is never taken from the
// PATH, because other versions are untested.
import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';

import { buildOnce } from './build-once.ts';
import { EnvironmentError } from './errors.ts';
import { writeNew } from './files.ts';
import { runTool, type Tools } from './run-tool.ts';

export const uvVersion = '0.13.8';

/** SHA-256 of the wheels on PyPI. On other platforms uv is not installed, because only pinned programs run. */
export const uvHashes: Readonly<Record<string, string>> = {
  manylinux2014_x86_64: 'e18a57b8b352eb7c8feb317b9f6f533c8f0ad9673fd6cf34bbe3cf1a9f6a8984',
  manylinux2014_aarch64: '0b3e8b1a4f5e405e31e2ff33de8af4744831e9f7338539671efbd8c3c94e791d',
  manylinux_2_28_aarch64: '5337c30bb893b4f9ce0ceb921ba2da0d13f649da644f40ad3bef84083bef0203',
  musllinux_1_1_x86_64: '29451c60f5e8b07403e0a175d5229efc36b0289b34143ff4aaa499a5dd52553a',
  macosx_10_12_x86_64: 'b7124ca1956ec2e476a1003ea5715a15f0266afaec37f4dc9c6972ba8183e6d1',
  macosx_11_0_arm64: '62b6943c7fd64fac6854f780bea6e0359e5a5bc3241f83ee357bb38276afac49',
};

/** Path of the program. Safe for concurrent calls. */
export async function ensureUv(tools: Tools, python: string): Promise<string> {
  const target = join(tools.cacheDir, 'tools', `uv-${uvVersion}`);
  const programIn = (directory: string): string => join(directory, 'bin', 'uv');
  await buildOnce({
    cacheDir: tools.cacheDir,
    target,
    // A virtual environment cannot be moved, but uv can: it is one self-contained binary.
    isComplete: (directory) => isExecutable(programIn(directory)),
    build: async (directory) => {
      const wanted = `uv==${uvVersion}`;
      await step(tools, 'make a virtual environment', python, ['-m', 'venv', directory]);
      const pinned = join(directory, 'uv.txt');
      const hashes = Object.values(uvHashes).map((hash) => ` --hash=sha256:${hash}`);
      await writeNew(tools, pinned, `${wanted}${hashes.join('')}\n`);
      const options = ['--quiet', '--no-deps', '--only-binary=:all:', '--require-hashes'];
      const pip = ['-m', 'pip', 'install', ...options, '-r', pinned];
      await step(tools, `install ${wanted}`, join(directory, 'bin', 'python'), pip);
    },
    user: tools.user,
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
