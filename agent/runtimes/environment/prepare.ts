// Builds or finds the Python environment of an instance, and removes environments that have not been used for long.
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { AgentInput } from '../../lifecycle/input.ts';
import type { Runtime } from '../runtime.ts';
import { cleanEnvironments } from './clean.ts';
import { formatBytes, formatDuration } from '../../../domain/units.ts';
import type { EnvironmentSpec } from '../../../schema/software.ts';
import type { FetchPackageFile } from './build.ts';
import type { OnStage } from './stages.ts';
import { ensureEnvironment } from './environment.ts';
import type { Environment } from './request.ts';
import { EnvironmentError } from './errors.ts';
import { stamp } from './in-use.ts';
import { writeLeftOut } from './left-out.ts';
import { withoutUrlSecrets } from '../../../domain/software/url-text.ts';
import type { SharedBuilds } from './shared/port.ts';
import { environmentRuntime } from './runtime.ts';

export interface PrepareInput extends Pick<
  AgentInput,
  'instance' | 'directory' | 'boot' | 'environment' | 'log' | 'stopping' | 'user' | 'registryLogin'
> {
  onStage?: OnStage;
  fetchPackageFile: FetchPackageFile;
  shared: SharedBuilds;
  /** An image must contain Dask. */
  needsDask?: boolean;
}

/** The control plane replaces an instance whose environment fails, so temporary failures are retried here first. */
const attempts = 3;
const retryAfterMs = 2_000;

/** Rejects with an EnvironmentError, or with the stop order's reason. */
export async function prepareEnvironment(
  { requirements, pinned, python, interpreter, packageFiles, indexes, leftOut }: EnvironmentSpec,
  input: PrepareInput,
): Promise<Runtime> {
  const { boot, environment, log, onStage, stopping } = input;
  const { signal } = stopping;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const made = await ensureEnvironment({
        cacheDir: boot.cacheDir,
        ...{ requirements, pinned, packageFiles, indexes, pythonPath: 'python3' },
        ...{ pythonVersion: python, callersPythonPath: interpreter },
        fetchPackageFile: input.fetchPackageFile,
        shared: input.shared,
        ...{ environment, user: input.user },
        ...(onStage === undefined ? {} : { onStage }),
        signal,
      });
      log.write(`The Python environment ${made.hash.slice(0, 12)} ${howMade(made)}: ${timesOf(made)}.`);
      for (const upload of made.uploads) void upload();
      const { directory, modules } = made;
      maintain(input, [directory, ...(modules === null ? [] : [dirname(modules)])]);
      const hints = await writeLeftOut(input.directory, leftOut);
      return environmentRuntime({ directory, modules, leftOut: hints, user: input.user });
    } catch (error) {
      signal.throwIfAborted();
      const mayPass = error instanceof EnvironmentError && (error.code === 'INSTALL' || error.code === 'TOOLS');
      if (!mayPass || attempt === attempts) throw error;
      log.write(`The Python environment could not be made; trying again: ${withoutUrlSecrets(error.message)}`);
      await sleep(retryAfterMs * attempt, undefined, { signal });
    }
  }
}

/** Removes unused environments while the work starts, and marks this one as used every day. */
function maintain({ boot, log, user }: PrepareInput, directories: readonly string[]): void {
  setInterval(() => void Promise.all(directories.map(stamp)), stampEveryMs).unref();
  void cleanEnvironments(boot.cacheDir, { user }).then(
    (removed) => removed.length > 0 && log.write(`Removed ${removed.length} unused Python environments.`),
    (error: unknown) => log.write(`Unused Python environments could not be removed: ${String(error)}`),
  );
}

const stampEveryMs = 86_400_000;

function howMade({ reused, downloaded }: Environment): string {
  if (reused) return 'was found';
  if (downloaded === null) return 'is made';
  return `is made of a download of ${formatBytes(downloaded.bytes)} that took ${formatDuration(downloaded.ms)}`;
}

const timesOf = ({ stages }: Environment): string =>
  stages.map(({ name, durationMs }) => `${name} ${(durationMs / 1000).toFixed(1)} s`).join(', ');
