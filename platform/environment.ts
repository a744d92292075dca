// Validates a program's environment variables at its start: reports every problem with the variable's name, the error, and an
// example. Values are never repeated, because some are secrets.
import type { z } from 'zod';

import { RopewalkError } from '../domain/errors.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface EnvironmentProblem {
  variable: string;
  text: string;
}

export function readEnvironment<T>(options: {
  /** The program's name in the message: `API`. */
  program: string;
  env: Environment;
  schema: z.ZodType<T>;
  examples: Readonly<Record<string, string>>;
  /** Problems that involve several variables. */
  also?: () => EnvironmentProblem[];
}): T {
  // An empty variable, as compose files set it, counts as unset.
  const given = Object.fromEntries(Object.entries(options.env).filter(([, value]) => value !== ''));
  const parsed = options.schema.safeParse(given);
  const own = parsed.success ? [] : parsed.error.issues.map(({ path, message }) => problem(path.join('.'), message));
  const problems = [...own, ...(options.also?.() ?? [])];
  if (parsed.success && problems.length === 0) return parsed.data;
  const lines = problems.map(({ variable, text }) => {
    const example = options.examples[variable];
    return `  ${variable}: ${text}${example === undefined ? '' : `, for example ${variable}=${example}`}`;
  });
  throw new RopewalkError({
    code: 'VALIDATION',
    message: [`The ${options.program} cannot start; its environment has problems:`, ...lines].join('\n'),
    hint: 'docs/operations.md lists every variable.',
  });
}

const problem = (variable: string, text: string): EnvironmentProblem => ({ variable, text });

/** `127.0.0.1:9464`, `[::1]:9464`. */
export function parseListenAddress(text: string): { host: string; port: number } | null {
  const [, bracketed, plain, port = ''] = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9.-]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  return host === undefined || Number(port) > 65_535 ? null : { host, port: Number(port) };
}

export const isLoopback = (host: string): boolean => /^(127\.\d+\.\d+\.\d+|::1|\[::1\]|localhost)$/.test(host);

/** True for an encrypted link, or one on this machine alone. */
export function isPrivateLink(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname)));
}

/** The message of a failed start, without a stack. */
function explainStart(error: unknown): string {
  if (!(error instanceof RopewalkError)) return error instanceof Error ? (error.stack ?? error.message) : String(error);
  const { message, hint } = error.problem;
  return hint === undefined ? message : `${message}\n${hint}`;
}

/** Reads a variable that a library parses; its error becomes one more problem. */
export function readForeign<T>(variable: string, read: () => T): { value: T } | { problem: EnvironmentProblem } {
  try {
    return { value: read() };
  } catch (error) {
    return { problem: { variable, text: error instanceof Error ? error.message : String(error) } };
  }
}

/** Prints every problem and ends the process with exit code 2. */
export function readOrExit<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    return exitWith(error);
  }
}

/** `readOrExit` for an asynchronous read. */
export async function waitOrExit<T>(reading: Promise<T>): Promise<T> {
  return reading.catch(exitWith);
}

function exitWith(error: unknown): never {
  process.stderr.write(`${explainStart(error)}\n`);
  process.exit(2);
}
