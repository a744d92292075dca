// Result codes of SQLite: https://www.sqlite.org/rescode.html. The primary code is the lowest byte.
import { RopewalkError } from '../../domain/errors.ts';

const busyCodes = new Set([5, 6]);

/** Remedies for the operator of the host when a database cannot be read or written. */
const hints: Record<number, string> = {
  5: 'Another process holds the database. Try again; if it stays so, end processes that have the file open.',
  6: 'Another process holds the database. Try again; if it stays so, end processes that have the file open.',
  8: 'Make the file and its directory writable for the user that runs Ropewalk.',
  10: 'Check the disk and the file system.',
  11: 'The file is damaged. Stop Ropewalk and restore the newest backup.',
  13: 'The disk is full: make room.',
  14: 'Check that the directory exists and that the user that runs Ropewalk has access to it.',
  26: 'The file is not a database of Ropewalk: move it away or restore a backup.',
};

const primaryCode = (error: unknown): number | null =>
  error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : null;

export const isBusy = (error: unknown): boolean => busyCodes.has(primaryCode(error) ?? 0);

/** UNAVAILABLE for a database that cannot be read or written; other errors are unchanged. */
export function sqliteError(error: unknown): unknown {
  const hint = hints[primaryCode(error) ?? 0];
  if (hint === undefined || !(error instanceof Error)) return error;
  const message = `The database cannot be used: SQLite says "${error.message}".`;
  return new RopewalkError({ code: 'UNAVAILABLE', message, hint }, { cause: error });
}
