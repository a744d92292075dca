// Errors of commands: the message, how to fix it, the request's id, and the exit code.
import {
  ClusterFailedError,
  ClusterTimeoutError,
  ConfigurationError,
  RopewalkApiError,
  ValidationError,
} from '../sdk/client.ts';
import type { Output } from './output.ts';

export const exitCodes = { ok: 0, failed: 1, usage: 2, interrupted: 130 } as const;

/** The command line, or a file it names, is invalid. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.hint = hint;
  }
}

/** The command failed for a reason outside its command line. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.hint = hint;
  }
}

/** Ctrl-C. The message names the job or cluster that continues, and the command that shows it. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

/** Prints the error to stderr and returns the exit code. */
export function reportError(error: unknown, output: Output): number {
  if (error instanceof Interrupted) {
    output.err(error.message);
    return exitCodes.interrupted;
  }
  if (error instanceof UsageError || error instanceof CommandError) {
    output.err(lines(error.message, error.hint));
    return error instanceof UsageError ? exitCodes.usage : exitCodes.failed;
  }
  if (error instanceof RopewalkApiError) {
    const about = error.field === undefined || error.message.includes(error.field) ? '' : `${error.field}: `;
    output.err(lines(`${about}${error.message}`, error.hint, error.requestId));
    return error instanceof ValidationError ? exitCodes.usage : exitCodes.failed;
  }
  if (error instanceof ClusterFailedError || error instanceof ClusterTimeoutError) {
    const number = error.cluster?.number;
    const where =
      number === undefined ? undefined : `See ropewalk cluster get ${number} and ropewalk cluster logs ${number}.`;
    output.err(lines(error.message, where));
    return exitCodes.failed;
  }
  // Nothing was sent.
  if (error instanceof ConfigurationError) {
    output.err(lines(error.message));
    return exitCodes.usage;
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  output.err(lines(text, 'This is a bug in ropewalk: please report it with the lines above.'));
  return exitCodes.failed;
}

function lines(what: string, hint?: string, requestId?: string): string {
  const all = [`error: ${what}`];
  if (hint !== undefined) all.push(`  how to fix: ${hint}`);
  if (requestId !== undefined) all.push(`  request id: ${requestId}`);
  return all.join('\n');
}
