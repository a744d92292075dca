// Why a Dask cluster's instance has no Dask process, in the control plane's codes.
import { withoutUrlSecrets } from '../../domain/software/url-text.ts';

export type DaskFailureCode =
  | 'ENVIRONMENT_FAILED'
  | 'HOST_SETUP_FAILED'
  | 'METADATA_OPEN'
  | 'SCHEDULER_FAILED'
  | 'WORKER_FAILED'
  /** Its program or its options are wrong: every instance would fail in the same way. */
  | 'PROGRAM_ERROR'
  | 'NO_HELLO'
  | 'JUPYTER_FAILED'
  | 'PROCESS_EXITED';

export class DaskFailure extends Error {
  readonly code: DaskFailureCode;

  constructor(code: DaskFailureCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'DaskFailure';
    this.code = code;
  }
}

/** Returns the result of `promise`. Its failure gets this code, unless it already has one. */
export async function orFail<T>(code: DaskFailureCode, promise: Promise<T>): Promise<T> {
  try {
    return await promise;
  } catch (cause) {
    throw asFailure(code, cause);
  }
}

export function asFailure(code: DaskFailureCode, cause: unknown): DaskFailure {
  if (cause instanceof DaskFailure) return cause;
  return new DaskFailure(code, presentable(cause instanceof Error ? cause.message : String(cause)), { cause });
}

/** Cut to a report's maximum length. */
const presentable = (text: string): string => withoutUrlSecrets(text).slice(0, 1000);
