// The log of a process: one JSON object per line. Removes secrets once more, in case a caller logs an object that contains
// them.
import { type Logger, pino } from 'pino';

export function createLogger(options: {
  level: string;
  program: 'api' | 'worker';
  /** Destination of the lines: standard output unless a test reads them. */
  write?: (line: string) => void;
}): Logger {
  const settings = {
    level: options.level,
    base: { process: options.program, pid: process.pid },
    redact: { paths: secretPaths, censor: '[secret]' },
    serializers: { err: plainError, error: plainError },
  };
  return options.write === undefined ? pino(settings) : pino(settings, { write: options.write });
}

const secretNames = [
  'authorization',
  'token',
  'launchToken',
  'instanceToken',
  'secret',
  'password',
  'env',
  'environment',
];
/** Covers two levels of nesting: our log objects are not deeper. */
const secretPaths = secretNames.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);

/** gRPC errors contain the metadata of their call, which may include a Temporal Cloud key, so only these fields are kept. */
function plainError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const code = 'code' in error && ['string', 'number'].includes(typeof error.code) ? { code: error.code } : {};
  const cause = error.cause === undefined ? {} : { cause: plainError(error.cause) };
  return { type: error.name, message: error.message, ...code, stack: error.stack, ...cause };
}
