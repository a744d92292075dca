// The interpreter of an environment: the instance's own, one of another version that is on the PATH, or one that uv downloads.
import { join } from 'node:path';

import { EnvironmentError } from './errors.ts';
import { inspectPython, type Python } from './python.ts';
import { runTool, type Tools } from './run-tool.ts';
import { ensureUv } from './uv.ts';

/**
 * `version` is for example "3.12"; null takes the Python at `pythonPath`, whatever its version is.
 * Rejects with an EnvironmentError that names the versions that the instance has.
 */
export async function findInterpreter(tools: Tools, pythonPath: string, version: string | null): Promise<Python> {
  if (version === null) return inspectPython(tools, pythonPath);
  const usual = await inspectPython(tools, pythonPath).catch((error: unknown) => orThrow(error));
  if (usual !== null && isOf(usual, version)) return usual;
  const named = await inspectPython(tools, `python${version}`).catch((error: unknown) => orThrow(error));
  if (named !== null && isOf(named, version)) return named;
  return downloadPython(tools, usual, version);
}

/** Kept beside the environments: each of them links to its interpreter. */
async function downloadPython(tools: Tools, usual: Python | null, version: string): Promise<Python> {
  if (usual === null) throw unobtainable(version, 'there is no Python that could run the installer', null);
  const uv = await ensureUv(tools, usual.executable);
  const environment = {
    ...tools.environment,
    UV_PYTHON_DOWNLOADS: 'manual',
    UV_PYTHON_INSTALL_DIR: join(tools.cacheDir, 'pythons'),
  };
  const asked = { ...tools, environment };
  const installed = await runTool(asked, uv, ['python', 'install', '--quiet', '--no-bin', version], {
    timeoutMs: 10 * 60_000,
  });
  if (!installed.ok) throw unobtainable(version, installed.failure.said, usual);
  const found = await runTool(asked, uv, ['python', 'find', '--managed-python', version], { timeoutMs: 30_000 });
  if (!found.ok) throw unobtainable(version, found.failure.said, usual);
  return inspectPython(tools, found.stdout.trim());
}

const isOf = (python: Python, version: string): boolean => python.version.startsWith(`${version}.`);

function orThrow(error: unknown): null {
  if (error instanceof EnvironmentError) return null;
  throw error;
}

const unobtainable = (version: string, why: string, usual: Python | null): EnvironmentError =>
  new EnvironmentError(
    'PYTHON',
    `Python ${version} is not on this instance, and could not be downloaded: ${why}\n` +
      (usual === null ? '' : `The instance has Python ${usual.version}. `) +
      `Use a client with a Python that the instance has, install Python ${version} there, or switch package sync off.`,
  );
