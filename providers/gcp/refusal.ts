// What Google answered instead of doing it: a refused request, or the failed operation of a request that was accepted.
export class GoogleRefusal extends Error {
  /** Of HTTP. A failed operation may have none of its own. */
  readonly status: number;
  /** E.g. `SERVICE_DISABLED`, `alreadyExists` or `ZONE_RESOURCE_POOL_EXHAUSTED`. */
  readonly reason: string;
  constructor(status: number, reason: string, message: string) {
    super(message);
    this.status = status;
    this.reason = reason;
  }
}
