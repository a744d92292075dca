// A failure for which the instance is the reason, not the command: every other command would fail there too.

export class InstanceFault extends Error {
  constructor(what: string, cause: unknown) {
    super(`${what}: ${reasonOf(cause)}`, { cause });
    this.name = 'InstanceFault';
  }
}

/** In words for users, who have no use for the paths of a machine: Node ends its errors with the call and its paths. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'syscall' in error ? error.message.replace(/, \w+(?: '.*)?$/s, '') : error.message;
}

/** True for a failure by which the system says that it has run out of something. */
export function isExhaustion(error: unknown): boolean {
  return error instanceof Error && 'code' in error && exhausted.has(String(error.code));
}

const exhausted = new Set(['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM', 'ENOSPC', 'EDQUOT', 'EIO', 'EROFS']);

/** Rejects with an InstanceFault where the system has run out of something, and otherwise with what failed and why. */
export async function orInstanceFault<T>(what: string, promise: Promise<T>): Promise<T> {
  try {
    return await promise;
  } catch (error) {
    throw isExhaustion(error)
      ? new InstanceFault(what, error)
      : new Error(`${what}: ${reasonOf(error)}`, { cause: error });
  }
}
