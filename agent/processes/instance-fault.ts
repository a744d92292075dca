// A failure caused by the instance, not by the command: every other command would fail there too.

export class InstanceFault extends Error {
  constructor(what: string, cause: unknown) {
    super(`${what}: ${reasonOf(cause)}`, { cause });
    this.name = 'InstanceFault';
  }
}

/** The reason without a machine's paths, which users cannot use: Node ends its errors with the call and its paths. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'syscall' in error ? error.message.replace(/, \w+(?: '.*)?$/s, '') : error.message;
}

/** True when the system has run out of a resource. */
export function isExhaustion(error: unknown): boolean {
  return error instanceof Error && 'code' in error && exhausted.has(String(error.code));
}

const exhausted = new Set(['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM', 'ENOSPC', 'EDQUOT', 'EIO', 'EROFS']);

/** Rejects with an InstanceFault where the system has run out of a resource, and otherwise with the step and its error. */
export async function orInstanceFault<T>(what: string, promise: Promise<T>): Promise<T> {
  try {
    return await promise;
  } catch (error) {
    throw isExhaustion(error)
      ? new InstanceFault(what, error)
      : new Error(`${what}: ${reasonOf(error)}`, { cause: error });
  }
}
