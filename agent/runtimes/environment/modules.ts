// Modules beside a user's script, sent as zip files: unpacked and compiled once per content, in a directory beside the
// environments. A variable names it for the command: a changed module does not change an environment of hundreds of packages.
import { createHash } from 'node:crypto';
import { join } from 'node:path';

import type { PackageFile } from '../../../schema/software.ts';
import type { FetchPackageFile } from './build.ts';
import { buildOnce } from './build-once.ts';
import { EnvironmentError } from './errors.ts';
import { makePrivateDirectory, removeAll, writeNew } from './files.ts';
import { stamp, use } from './in-use.ts';
import { isMarked, writeMarker } from './marker.ts';
import type { Python } from './python.ts';
import { runTool, type Tools } from './run-tool.ts';
import { type OnStage, type Stage, stageClock } from './stages.ts';

export interface ModulesRequest {
  tools: Tools;
  archives: readonly PackageFile[];
  python: Python;
  /** The Python that unpacks and compiles them. */
  pythonPath: string;
  fetchPackageFile: FetchPackageFile;
  onStage: OnStage;
}

export const isModules = ({ name }: PackageFile): boolean => name.endsWith('.zip');

/** Rejects with an EnvironmentError, or with the signal's reason. */
export async function ensureModules(
  request: ModulesRequest,
): Promise<{ directory: string; stages: Stage[]; reused: boolean }> {
  const { tools, archives, python, onStage } = request;
  const { cacheDir, user, signal } = tools;
  const hash = modulesHash(archives, python);
  const target = join(cacheDir, 'environments', hash);
  const clock = stageClock(onStage);
  // Before the lookup, because a found directory must stay.
  await use(cacheDir, hash, signal);
  const outcome = await buildOnce({
    ...{ cacheDir, target, user, signal },
    isComplete: (found) => isMarked(found, hash),
    build: async (into) => {
      clock.enter('modules');
      await unpack(request, into);
      await writeMarker(tools, into, { format: formatNumber, hash, python });
    },
    onWait: () => clock.enter('wait'),
  });
  await stamp(target);
  return { directory: modulesIn(target), stages: clock.end(), reused: outcome === 'found' };
}

/** Incremented when the layout of modules changes. */
const formatNumber = 1;

function modulesHash(archives: readonly PackageFile[], { version, platform }: Python): string {
  const files = archives.map(({ name, sha256 }) => `${name} ${sha256}`).sort();
  return createHash('sha256')
    .update(JSON.stringify(['modules', formatNumber, version, platform, files]))
    .digest('hex');
}

const modulesIn = (directory: string): string => join(directory, 'modules');

async function unpack({ tools, archives, pythonPath, fetchPackageFile }: ModulesRequest, directory: string) {
  const downloads = join(directory, 'package-files');
  await makePrivateDirectory(tools, downloads);
  for (const file of archives) {
    const path = join(downloads, file.name);
    await writeNew(tools, path, await fetchPackageFile(file));
    // Python's own zipfile, which ignores absolute paths and `..`.
    const unpacked = await runTool(
      tools,
      pythonPath,
      ['-I', '-m', 'zipfile', '--extract', path, modulesIn(directory)],
      {
        timeoutMs: 5 * 60_000,
      },
    );
    if (!unpacked.ok) {
      throw new EnvironmentError('REQUIREMENT', `${file.name} cannot be unpacked: ${unpacked.failure.said}`, {
        cause: unpacked.failure.cause,
      });
    }
  }
  await removeAll(tools, downloads);
  // The exit code is ignored, because files that do not compile are never imported.
  await runTool(tools, pythonPath, ['-I', '-m', 'compileall', '-q', modulesIn(directory)], { timeoutMs: 5 * 60_000 });
}
