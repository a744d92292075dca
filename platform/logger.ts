// The log of a process: one JSON object a line. What must never be in it is cut out here once more, in case a caller
// logs an object that holds it.
import { type Logger, pino } from 'pino';

export function createLogger(options: {
  level: string;
  program: 'api' | 'worker';
  /** Where lines go: standard output unless a test reads them. */
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
/** Two levels are enough: nothing of ours is logged deeper. */
const secretPaths = secretNames.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);

/** Errors of gRPC carry the metadata of their call, in which a Temporal Cloud key can be: only these fields are kept. */
function plainError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const code = 'code' in error && ['string', 'number'].includes(typeof error.code) ? { code: error.code } : {};
  const cause = error.cause === undefined ? {} : { cause: plainError(error.cause) };
  return { type: error.name, message: error.message, ...code, stack: error.stack, ...cause };
}
