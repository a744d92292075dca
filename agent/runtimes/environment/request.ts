// The request for an environment, and its result.
import type { TaskUser } from '../../processes/task-user.ts';
import type { PackageFile, PackageIndex } from '../../../schema/software.ts';
import type { FetchPackageFile } from './build.ts';
import type { Upload } from './shared/pack.ts';
import type { SharedBuilds } from './shared/port.ts';
import type { OnStage, Stage } from './stages.ts';

export interface EnvironmentRequest {
  /** On one file system, kept between runs, shared by all agents of a machine. */
  cacheDir: string;
  requirements: readonly string[];
  /** The requirements are a whole environment: their versions win over the packages' own requirements. */
  pinned?: boolean;
  /** Wheels to install, and zip files of modules. */
  packageFiles?: readonly PackageFile[];
  /** Searched before the instance's own index, or instead of it. */
  indexes?: readonly PackageIndex[];
  /** Required for package files. */
  fetchPackageFile?: FetchPackageFile;
  /** A Python 3.10 or later: its path, or its name on the PATH. */
  pythonPath: string;
  /** E.g. "3.12": taken from the PATH or downloaded when the Python at `pythonPath` has another version. */
  pythonVersion?: string | null;
  /** Path of a Python of that version on the caller's machine. */
  callersPythonPath?: string | null;
  /** The agent's own environment; programs get a few of its variables. */
  environment: Record<string, string | undefined>;
  /** Builds and owns it; absent or null for this process's own user. */
  user?: TaskUser | null;
  /** Environments shared by a workspace's instances; absent or null on a machine that builds for itself. */
  shared?: SharedBuilds | null;
  /** Called when a stage begins. */
  onStage?: OnStage;
  signal?: AbortSignal;
}

export interface Environment {
  directory: string;
  pythonPath: string;
  hash: string;
  /** Directory of the modules that are first on Python's path; null when none were sent. */
  modules: string | null;
  stages: Stage[];
  /** True when this call did not build it: it existed, or another process built it meanwhile. */
  reused: boolean;
  /** Set when another instance has built it; null when this one has, or it existed. */
  downloaded: { bytes: number; ms: number } | null;
  /** Archives packed for other instances, sent while this one begins its work. */
  uploads: Upload[];
}
