// Error codes of PostgreSQL: https://www.postgresql.org/docs/15/errcodes-appendix.html, and of Node's sockets.
import { RopewalkError } from '../../domain/errors.ts';

/** serialization_failure, deadlock_detected: the same transaction succeeds when it is repeated. */
const repeatable = new Set(['40001', '40P01']);

/** admin_shutdown, crash_shutdown, cannot_connect_now, lock_not_available, query_canceled, read_only_sql_transaction, idle timeout. */
const unavailable = new Set(['57P01', '57P02', '57P03', '55P03', '57014', '25006', '25P03']);
/** insufficient_privilege; invalid_schema_name, when the role may not even use the schema. */
const forbidden = new Set(['42501', '3F000']);
/** Connection exceptions, wrong credentials, unknown database, insufficient resources, operator intervention, system errors. */
const unavailableClasses = new Set(['08', '28', '3D', '53', '57', '58']);
const socketCodes = new Set(
  'ECONNREFUSED ECONNRESET ECONNABORTED EPIPE ENOTFOUND EAI_AGAIN ETIMEDOUT EHOSTUNREACH ENETUNREACH ENOENT EACCES'.split(
    ' ',
  ),
);
/** `pg` gives these no codes. */
const lostMessages =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|timeout exceeded when trying to connect|Query read timeout|The server does not support SSL)/;

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

export const isRepeatable = (error: unknown): boolean => repeatable.has(codeOf(error));

/** The connection is lost, and with it the transaction unless it was being committed. */
export const isConnectionLost = (error: unknown): boolean => {
  const code = codeOf(error);
  if (error instanceof Error && lostMessages.test(error.message)) return true;
  return code.startsWith('08') || code === '57P01' || code === '57P02' || code === 'ECONNRESET' || code === 'EPIPE';
};

/** The client waited in vain for a connection or an answer: seconds have passed. */
export const isTimeout = (error: unknown): boolean => error instanceof Error && /timeout/.test(error.message);

/** UNAVAILABLE for a database that cannot be reached, lacks a permission, or answers too late; other errors are unchanged. */
export function postgresError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const code = codeOf(error);
  const isUnavailable =
    unavailable.has(code) ||
    forbidden.has(code) ||
    socketCodes.has(code) ||
    (code.length === 5 && unavailableClasses.has(code.slice(0, 2))) ||
    isConnectionLost(error) ||
    isRepeatable(error);
  if (!isUnavailable) return error;
  // `pg` wraps attempts on several addresses in an error without a message.
  const text = error.message === '' ? code : error.message;
  const message = `The database cannot be used: PostgreSQL or the connection to it says "${text}".`;
  const hint = forbidden.has(code)
    ? 'The role of ROPEWALK_DATABASE_URL must own its tables and may create them: GRANT CREATE ON SCHEMA public TO role, or make it the owner of the database.'
    : 'Try again; if it stays so, check ROPEWALK_DATABASE_URL and that the server runs and accepts connections.';
  return new RopewalkError({ code: 'UNAVAILABLE', message, hint }, { cause: error });
}
