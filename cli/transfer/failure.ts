// Errors of transfers, worded for users: the problem with a place on this machine, or the object store's answer.
import { TransferError } from '../../agent/files/http-file.ts';
import { CommandError } from '../errors.ts';

/** A retry changes none of them. */
const places: Readonly<Record<string, string>> = {
  ENOSPC: 'its disk is full',
  EDQUOT: 'your quota of disk space is used up',
  EROFS: 'its file system is read-only',
  EACCES: 'permission is denied',
  EPERM: 'it is not permitted',
  EEXIST: 'a file is where a directory is needed',
  ENOTDIR: 'a file is where a directory is needed',
  EISDIR: 'a directory is where a file is needed',
  ENOTEMPTY: 'a directory is where a file is needed',
  ENAMETOOLONG: 'a name is too long for its file system',
};

/** Why a place on this machine cannot be read or written; null for other errors, such as those of the network. */
export function placeFault(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error)) return null;
  if ('syscall' in error && error.syscall === 'connect') return null;
  const why = places[String(error.code)];
  if (why === undefined) return null;
  // A rename reports its target, the conflicting path, as `dest`.
  const path = 'dest' in error ? error.dest : 'path' in error ? error.path : undefined;
  return typeof path === 'string' ? `${path}: ${why}` : why;
}

/** Runs a transfer; its errors name the failed action `what`, and `hint` is the remedy. */
export async function explained<T>(what: string, hint: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const fault = placeFault(error);
    if (fault !== null) throw new CommandError(`cannot ${what}: ${fault}`, hint);
    const isNetwork = error instanceof TransferError || (error instanceof Error && 'syscall' in error);
    if (isNetwork) throw new CommandError(`cannot ${what}: ${error.message}`, hint);
    throw error;
  }
}
