// An environment's packages: a directory named by the hash of its content and interpreter.
import { join } from 'node:path';

import { buildEnvironment, noPackageFiles, pythonIn } from './build.ts';
import { buildOnce } from './build-once.ts';
import { environmentHash, formatNumber } from './content.ts';
import { lockFor } from './default-lock.ts';
import { stamp, use } from './in-use.ts';
import { isMarked, writeMarker } from './marker.ts';
import { findInterpreter } from './interpreter.ts';
import type { Python } from './python.ts';
import type { Environment, EnvironmentRequest } from './request.ts';
import { normaliseRequirements } from './requirements.ts';
import { obtainEnvironment } from './shared/obtain.ts';
import type { Upload } from './shared/pack.ts';
import { platformOf } from './shared/platform.ts';
import { stageClock, type OnStage } from './stages.ts';
import type { Tools } from './run-tool.ts';
import { isExecutable } from './uv.ts';

export interface Packages extends Omit<Environment, 'modules'> {
  python: Python;
}

/** Rejects with an EnvironmentError, or with the signal's reason. */
export async function ensurePackages(request: EnvironmentRequest, tools: Tools): Promise<Packages> {
  const { cacheDir, user } = tools;
  const requirements = normaliseRequirements(request.requirements);
  const { pinned = false, packageFiles = [], indexes = [], pythonVersion = null } = request;
  const { fetchPackageFile = noPackageFiles, shared = null } = request;
  const python = await findInterpreter(tools, {
    ...{ version: pythonVersion, callersPath: request.callersPythonPath ?? null, usualPath: request.pythonPath },
  });
  const content = { requirements, pinned, packageFiles, indexes };
  const lock = lockFor(content);
  const hash = environmentHash(content, python);
  const directory = join(cacheDir, 'environments', hash);
  const clock = stageClock(request.onStage);
  // Before the lookup, because a found directory must stay.
  await use(cacheDir, hash, request.signal);
  const uploads: Upload[] = [];
  let downloaded: Environment['downloaded'] = null;
  const ofRequirements = async (): Promise<string> => {
    const enter: OnStage = (name, builder) => (name === 'ready' ? undefined : clock.enter(name, builder));
    const base = await ensurePackages({ ...request, packageFiles: [], onStage: enter }, tools);
    uploads.push(...base.uploads);
    downloaded = base.downloaded;
    return base.directory;
  };
  const recipe = {
    ...{ tools, ...content, lock, fetchPackageFile, python },
    base: pinned && packageFiles.length > 0 ? ofRequirements : null,
  };
  const outcome = await buildOnce({
    cacheDir,
    target: directory,
    isComplete: (found) => isComplete(found, hash),
    build: async (into) => {
      const build = (enter: OnStage): Promise<void> => buildEnvironment({ ...recipe, enter }, into);
      // A user's own package files change often; the environment below them is shared.
      if (shared === null || packageFiles.length > 0) await build(clock.enter);
      else {
        const obtained = await obtainEnvironment({
          ...{ shared, tools, directory: into, hash, build, enter: clock.enter, python: pythonIn(into) },
          ...{ platform: await platformOf(python), isPinned: pinned || lock.length > 0 },
        });
        downloaded = obtained.downloaded;
        if (obtained.upload !== null) uploads.push(obtained.upload);
      }
      clock.enter('ready');
      await writeMarker(tools, into, { format: formatNumber, hash, python });
    },
    user,
    onWait: () => clock.enter('wait'),
    signal: request.signal,
  });
  await stamp(directory);
  if (outcome === 'found') clock.enter('ready');
  const made = { directory, pythonPath: pythonIn(directory), hash, stages: clock.end(), reused: outcome === 'found' };
  return { ...made, downloaded, uploads, python };
}

/** The interpreter is a link to the machine's own; when that has been removed, the environment is unusable. */
async function isComplete(directory: string, hash: string): Promise<boolean> {
  return (await isMarked(directory, hash)) && (await isExecutable(pythonIn(directory)));
}
