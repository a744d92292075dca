// Python environments, made once per content and kept: the same requirements on the same interpreter are the same
// directory, named by their hash. An environment that is there is complete, and is never changed again.
import { constants } from 'node:fs';
import { mkdir, open, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

import { makeOwned } from '../../processes/hand-over.ts';
import { letPass, type TaskUser } from '../../processes/task-user.ts';
import type { PackageFile, PackageIndex } from '../../../schema/software.ts';
import { buildEnvironment, pythonIn, type FetchPackageFile, type StageName } from './build.ts';
import { buildOnce } from './build-once.ts';
import { environmentHash, formatNumber } from './content.ts';
import { lockFor } from './default-lock.ts';
import { markerFile, stamp, use } from './in-use.ts';
import { writeNew } from './files.ts';
import { findInterpreter } from './interpreter.ts';
import { normaliseRequirements } from './requirements.ts';
import { obtainEnvironment } from './shared/obtain.ts';
import type { Upload } from './shared/pack.ts';
import { platformOf } from './shared/platform.ts';
import type { SharedBuilds } from './shared/port.ts';
import { toolEnvironment, type Tools } from './run-tool.ts';
import { isExecutable } from './uv.ts';

export interface EnvironmentRequest {
  /** On one file system, kept between runs, shared by all agents of a machine. */
  cacheDir: string;
  requirements: readonly string[];
  /** The requirements are a whole environment: their versions hold even where a package asks for another one. */
  pinned?: boolean;
  /** Wheels to install, and zip files of modules. */
  packageFiles?: readonly PackageFile[];
  /** Asked before the instance's own index, or instead of it. */
  indexes?: readonly PackageIndex[];
  /** Needed for package files. */
  fetchPackageFile?: FetchPackageFile;
  /** A Python 3.10 or later: its path, or its name on the PATH. */
  pythonPath: string;
  /** E.g. "3.12": taken from the PATH or downloaded when the Python at `pythonPath` has another version. */
  pythonVersion?: string | null;
  /** Where the caller's own machine has a Python of that version. */
  callersPythonPath?: string | null;
  /** The agent's own environment; programs see a few names of it. */
  environment: Record<string, string | undefined>;
  /** Builds it, and owns it; absent or null for this process's own user. */
  user?: TaskUser | null;
  /** Environments that the instances of a workspace share; absent or null on a machine that builds for itself. */
  shared?: SharedBuilds | null;
  /** Called when a stage begins. */
  onStage?: (name: StageName) => void;
  signal?: AbortSignal;
}

export interface Environment {
  directory: string;
  pythonPath: string;
  hash: string;
  stages: { name: StageName; durationMs: number }[];
  /** True when this call did not make it: it was there, or another process made it meanwhile. */
  reused: boolean;
  /** Another instance has built it; null: this one has, or it was there. */
  downloaded: { bytes: number; ms: number } | null;
  /** What has been packed for other instances, to be sent while this one begins its work. */
  uploads: Upload[];
}

/** Rejects with an EnvironmentError, or with the signal's reason. */
export async function ensureEnvironment(request: EnvironmentRequest): Promise<Environment> {
  const cacheDir = resolve(request.cacheDir);
  // A user who may write here may run code as this user.
  await mkdir(cacheDir, { recursive: true, mode: 0o700 });
  const { user = null } = request;
  if (user !== null) await prepareFor(user, cacheDir);
  const environment = toolEnvironment(request.environment, cacheDir);
  const tools: Tools = { user, environment, cacheDir, signal: request.signal };
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
  // Before it is looked for: what is found must stay.
  await use(cacheDir, hash, request.signal);
  const uploads: Upload[] = [];
  let downloaded: Environment['downloaded'] = null;
  const ofRequirements = async (): Promise<string> => {
    const enter = (name: StageName): void => (name === 'ready' ? undefined : clock.enter(name));
    const base = await ensureEnvironment({ ...request, packageFiles: [], onStage: enter });
    uploads.push(...base.uploads);
    downloaded = base.downloaded;
    return base.directory;
  };
  const recipe = {
    ...{ tools, ...content, lock, fetchPackageFile, python, enter: clock.enter },
    base: pinned && packageFiles.length > 0 ? ofRequirements : null,
  };
  const outcome = await buildOnce({
    cacheDir,
    target: directory,
    isComplete: (found) => isComplete(found, hash),
    build: async (into) => {
      const build = (): Promise<void> => buildEnvironment(recipe, into);
      // A user's own package files change often: what is below them is shared.
      if (shared === null || packageFiles.length > 0) await build();
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
  return { ...made, downloaded, uploads };
}

/** The cache is root's; the user passes through, and owns what its programs write by themselves. */
async function prepareFor(user: TaskUser, cacheDir: string): Promise<void> {
  await letPass(user, [cacheDir, ...['building', 'environments', 'tools'].map((name) => join(cacheDir, name))]);
  for (const name of ['uv', 'pythons']) await makeOwned(user, join(cacheDir, name));
}

const noPackageFiles: FetchPackageFile = () => Promise.reject(new Error('package files are not available here'));

/** The last thing that is written, before the rename: it describes the environment to its readers. */
async function writeMarker(tools: Tools, directory: string, content: object): Promise<void> {
  const text = `${JSON.stringify(content, null, 2)}\n`;
  // Of a user on a machine of its own, which does not outlive a crash of the system.
  if (tools.user !== null) return writeNew(tools, join(directory, markerFile), text);
  const file = await open(join(directory, markerFile), 'wx');
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Its owner may have put a link or a named pipe there. */
const asItIs = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** The interpreter is a link to the machine's own: where that has been removed, the environment is of no use. */
async function isComplete(directory: string, hash: string): Promise<boolean> {
  const marker = await readFile(join(directory, markerFile), { encoding: 'utf8', flag: asItIs }).catch(() => '');
  return marker.includes(`"${hash}"`) && (await isExecutable(pythonIn(directory)));
}

function stageClock(onStage: ((name: StageName) => void) | undefined): {
  enter: (name: StageName) => void;
  end: () => Environment['stages'];
} {
  const stages: Environment['stages'] = [];
  let current: { name: StageName; startedMs: number } | null = null;
  const leave = (): void => {
    if (current === null) return;
    stages.push({ name: current.name, durationMs: Math.round(performance.now() - current.startedMs) });
    current = null;
  };
  return {
    enter: (name) => {
      leave();
      current = { name, startedMs: performance.now() };
      onStage?.(name);
    },
    end: () => {
      leave();
      return stages;
    },
  };
}
