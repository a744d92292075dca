// Runs one of the programs that build an environment: argv, never a shell, with only the variables that such programs need.
// They get none of the agent's own variables, least of all its credentials.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { withoutUrlSecrets } from '../../../domain/software/url-text.ts';
import { variablesOf, type TaskUser } from '../../processes/task-user.ts';

export interface Tools {
  /** The programs' user; null for the agent's own. A build runs code of packages. */
  user: TaskUser | null;
  environment: Record<string, string>;
  /** Also the working directory, which contains no configuration file of a project. */
  cacheDir: string;
  signal: AbortSignal | undefined;
}

/** A program that failed. */
export interface ToolFailure {
  /** Its stderr, or why it did not run. */
  said: string;
  cause: unknown;
}

export type ToolOutcome = { ok: true; stdout: string } | { ok: false; failure: ToolFailure };

export async function runTool(
  tools: Tools,
  command: string,
  args: readonly string[],
  { timeoutMs, input }: { timeoutMs: number; input?: string | Uint8Array },
): Promise<ToolOutcome> {
  const running = run(command, args, {
    cwd: tools.cacheDir,
    env: { ...tools.environment, ...variablesOf(tools.user) },
    ...(tools.user === null ? {} : { uid: tools.user.uid, gid: tools.user.gid }),
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
    maxBuffer: 64 * 1024 * 1024,
    ...(tools.signal === undefined ? {} : { signal: tools.signal }),
  });
  // A program that ends before it has read everything reports the reason by its exit.
  running.child.stdin?.on('error', () => undefined);
  running.child.stdin?.end(input ?? '');
  try {
    return { ok: true, stdout: (await running).stdout };
  } catch (cause) {
    tools.signal?.throwIfAborted();
    return { ok: false, failure: { said: explain(cause, timeoutMs), cause } };
  }
}

/** `base` is the agent's environment; only the names below are copied from it. */
export function toolEnvironment(base: Record<string, string | undefined>, cacheDir: string): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const name of passedOn) {
    const value = base[name];
    if (value !== undefined) environment[name] = value;
  }
  return {
    ...environment,
    NO_COLOR: '1',
    // Keeps a URL in its messages in one piece.
    UV_NO_WRAP: '1',
    PIP_DISABLE_PIP_VERSION_CHECK: '1',
    PIP_NO_INPUT: '1',
    // On the same file system as the environments: files are linked, not copied.
    UV_CACHE_DIR: join(cacheDir, 'uv'),
    // The interpreter is given explicitly; another one must never be downloaded instead.
    UV_PYTHON_DOWNLOADS: 'never',
  };
}

const run = promisify(execFile);

/** The names copied from the agent's environment. */
export const passedOn = [
  ...['PATH', 'HOME', 'LANG', 'LC_ALL', 'TMPDIR'],
  // Proxies and TLS.
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'all_proxy', 'no_proxy'],
  ...['SSL_CERT_FILE', 'SSL_CERT_DIR', 'PIP_CERT', 'UV_SYSTEM_CERTS', 'UV_HTTP_RETRIES'],
  // Package indexes.
  ...['PIP_INDEX_URL', 'PIP_EXTRA_INDEX_URL', 'UV_DEFAULT_INDEX', 'UV_INDEX', 'UV_INDEX_URL', 'UV_EXTRA_INDEX_URL'],
  // Termination finds the instance's processes by it.
  'ROPEWALK_INSTANCE',
];

function explain(cause: unknown, timeoutMs: number): string {
  if (!(cause instanceof Error)) return String(cause);
  const stderr = 'stderr' in cause ? String(cause.stderr).trim() : '';
  const wasKilled = 'killed' in cause && cause.killed === true;
  const timeout = wasKilled ? `It was ended after ${Math.round(timeoutMs / 1000)} s. ` : '';
  // Secrets are removed before cutting, because half a URL could not be recognised. Keeps the end of a long text, where
  // programs print the reason.
  const said = stderr === '' ? withoutUrlSecrets(cause.message) : withoutUrlSecrets(endOf(stderr)).slice(-2_000);
  return `${timeout}${said}`;
}

/** Starts at a word boundary, because a partial word may be half a URL. */
function endOf(text: string): string {
  const end = text.slice(-maxReadChars);
  return end.length === text.length ? end : end.slice(end.search(/\s|$/));
}

/** Limits the scan of an output of up to 64 MiB. */
const maxReadChars = 200_000;
