// Why an instance of a Dask cluster has no Dask process, in the codes that the control plane knows.
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

/** What `promise` gives. Its failure becomes one of this code, unless it has a code already. */
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

/** As long as a report may be. */
const presentable = (text: string): string => withoutUrlSecrets(text).slice(0, 1000);
