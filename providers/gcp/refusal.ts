// Google's refusal: of a request, or by the failed operation of an accepted request.
export class GoogleRefusal extends Error {
  /** The HTTP status; a failed operation may have none. */
  readonly status: number;
  /** E.g. `SERVICE_DISABLED`, `alreadyExists` or `ZONE_RESOURCE_POOL_EXHAUSTED`. */
  readonly reason: string;
  constructor(status: number, reason: string, message: string) {
    super(message);
    this.status = status;
    this.reason = reason;
  }
}
