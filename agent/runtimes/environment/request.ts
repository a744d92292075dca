// What an environment is asked for with, and what it is.
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
  onStage?: OnStage;
  signal?: AbortSignal;
}

export interface Environment {
  directory: string;
  pythonPath: string;
  hash: string;
  /** Where the modules are that come first on the path of Python; null when none were sent. */
  modules: string | null;
  stages: Stage[];
  /** True when this call did not make it: it was there, or another process made it meanwhile. */
  reused: boolean;
  /** Another instance has built it; null: this one has, or it was there. */
  downloaded: { bytes: number; ms: number } | null;
  /** What has been packed for other instances, to be sent while this one begins its work. */
  uploads: Upload[];
}
