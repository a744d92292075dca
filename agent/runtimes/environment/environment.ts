// Python environments, built once per content and kept: the same requirements on the same interpreter are the same directory,
// named by their hash. An existing environment is complete and never changes. Modules beside a user's script change with every
// run: they have their own directory, and the environment stays unchanged.
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
  // Write access here allows running code as this user.
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

/** The cache belongs to root; the user can traverse it, and owns the directories that its programs write. */
async function prepareFor(user: TaskUser, cacheDir: string): Promise<void> {
  await letPass(user, [cacheDir, ...['building', 'environments', 'tools'].map((name) => join(cacheDir, name))]);
  for (const name of ['uv', 'pythons']) await makeOwned(user, join(cacheDir, name));
}
