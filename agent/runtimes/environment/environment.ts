// Python environments, made once per content and kept: the same requirements on the same interpreter are the same
// directory, named by their hash. An environment that is there is complete, and is never changed again. Modules that a user has
// beside a script change with every run: they have a directory of their own, and the environment stays as it is.
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';

import { makeOwned } from '../../processes/hand-over.ts';
import { letPass, type TaskUser } from '../../processes/task-user.ts';
import { noPackageFiles } from './build.ts';
import { ensureModules, isModules } from './modules.ts';
import { ensurePackages } from './packages.ts';
import type { Environment, EnvironmentRequest } from './request.ts';
import type { OnStage } from './stages.ts';
import { toolEnvironment, type Tools } from './run-tool.ts';

/** Rejects with an EnvironmentError, or with the signal's reason. */
export async function ensureEnvironment(request: EnvironmentRequest): Promise<Environment> {
  const cacheDir = resolve(request.cacheDir);
  // A user who may write here may run code as this user.
  await mkdir(cacheDir, { recursive: true, mode: 0o700 });
  const { user = null, packageFiles = [], onStage } = request;
  if (user !== null) await prepareFor(user, cacheDir);
  const tools: Tools = {
    user,
    environment: toolEnvironment(request.environment, cacheDir),
    cacheDir,
    signal: request.signal,
  };
  const archives = packageFiles.filter(isModules);
  const untilReady: OnStage = (name, builder) => (name === 'ready' ? undefined : onStage?.(name, builder));
  const wheels = packageFiles.filter((file) => !isModules(file));
  const made = await ensurePackages({ ...request, packageFiles: wheels, onStage: untilReady }, tools);
  const { python, ...environment } = made;
  if (archives.length === 0) {
    onStage?.('ready');
    return { ...environment, modules: null };
  }
  const modules = await ensureModules({
    ...{ tools, archives, python, pythonPath: made.pythonPath, onStage: untilReady },
    fetchPackageFile: request.fetchPackageFile ?? noPackageFiles,
  });
  onStage?.('ready');
  return {
    ...environment,
    modules: modules.directory,
    stages: [...made.stages, ...modules.stages],
    reused: made.reused && modules.reused,
  };
}

/** The cache is root's; the user passes through, and owns what its programs write by themselves. */
async function prepareFor(user: TaskUser, cacheDir: string): Promise<void> {
  await letPass(user, [cacheDir, ...['building', 'environments', 'tools'].map((name) => join(cacheDir, name))]);
  for (const name of ['uv', 'pythons']) await makeOwned(user, join(cacheDir, name));
}
