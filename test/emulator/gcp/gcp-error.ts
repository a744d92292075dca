/** A refusal of Google's API: HTTP status, `reason` of the first error, message. */
export class GcpError extends Error {
  readonly status: number;
  readonly reason: string;
  constructor(status: number, reason: string, message: string) {
    super(message);
    this.status = status;
    this.reason = reason;
  }
}

export const invalid = (message: string): GcpError => new GcpError(400, 'invalid', message);
export const notFound = (what: string): GcpError =>
  new GcpError(404, 'notFound', `The resource '${what}' was not found`);

/** The body of an error, as the API writes it. */
export const errorBody = ({ status, reason, message }: GcpError): object => ({
  error: {
    code: status,
    message,
    errors: [{ message, domain: reason.startsWith('rate') ? 'usageLimits' : 'global', reason }],
  },
});
