// The interpreter of an environment: the instance's own, one of another version at the caller's path or on the PATH, or one
// that uv downloads.
import { join } from 'node:path';

import { EnvironmentError } from './errors.ts';
import { inspectPython, type Python } from './python.ts';
import { runTool, type Tools } from './run-tool.ts';
import { ensureUv } from './uv.ts';

export interface Wanted {
  /** E.g. "3.12"; null selects the Python at `usualPath`, whatever its version. */
  version: string | null;
  /** Its path on the caller's machine; null when unknown. */
  callersPath: string | null;
  /** The instance's own: a path, or a name on the PATH. */
  usualPath: string;
}

/** Rejects with an EnvironmentError that names the instance's version. */
export async function findInterpreter(tools: Tools, { version, callersPath, usualPath }: Wanted): Promise<Python> {
  if (version === null) return inspectPython(tools, usualPath);
  const usual = await inspectIfThere(tools, usualPath);
  if (usual !== null && isOf(usual, version)) return usual;
  for (const path of [callersPath, `python${version}`]) {
    const found = path === null ? null : await inspectIfThere(tools, path);
    if (found !== null && isOf(found, version)) return found;
  }
  return downloadPython(tools, usual, version);
}

/** Stored beside the environments, each of which links to its interpreter. */
async function downloadPython(tools: Tools, usual: Python | null, version: string): Promise<Python> {
  if (usual === null) throw unobtainable(version, 'there is no Python that could run the installer', null);
  const uv = await ensureUv(tools, usual.executable);
  const environment = {
    ...tools.environment,
    UV_PYTHON_DOWNLOADS: 'manual',
    UV_PYTHON_INSTALL_DIR: join(tools.cacheDir, 'pythons'),
  };
  const asked = { ...tools, environment };
  // Without --quiet, which would also hide the reason of a failure.
  const installed = await runTool(asked, uv, ['python', 'install', '--no-progress', '--no-bin', version], {
    timeoutMs: 10 * 60_000,
  });
  if (!installed.ok) throw unobtainable(version, installed.failure.said, usual);
  const found = await runTool(asked, uv, ['python', 'find', '--managed-python', version], { timeoutMs: 30_000 });
  if (!found.ok) throw unobtainable(version, found.failure.said, usual);
  return inspectPython(tools, found.stdout.trim());
}

const isOf = (python: Python, version: string): boolean => python.version.startsWith(`${version}.`);

async function inspectIfThere(tools: Tools, path: string): Promise<Python | null> {
  try {
    return await inspectPython(tools, path);
  } catch (error) {
    if (error instanceof EnvironmentError) return null;
    throw error;
  }
}

const unobtainable = (version: string, why: string, usual: Python | null): EnvironmentError =>
  new EnvironmentError(
    'PYTHON',
    `Python ${version} is not on this instance, and could not be downloaded: ${why}\n` +
      (usual === null ? '' : `The instance has Python ${usual.version}. `) +
      `Use a client with a Python that the instance has, install Python ${version} there, or switch package sync off.`,
  );
