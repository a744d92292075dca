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

/** The body of an error, as the APIs write it: newer ones have a status in capitals, older ones a reason. */
export function errorBody({ status, reason, message }: GcpError): object {
  const isNew = /^[A-Z_]+$/.test(reason);
  const isDisabled = reason === 'accessNotConfigured';
  return {
    error: {
      code: status,
      message,
      status: isNew ? reason : (statuses[status] ?? 'UNKNOWN'),
      ...(isNew ? {} : { errors: [{ message, domain: reason.startsWith('rate') ? 'usageLimits' : 'global', reason }] }),
      ...(isDisabled
        ? {
            details: [
              {
                '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
                reason: 'SERVICE_DISABLED',
                domain: 'googleapis.com',
              },
            ],
          }
        : {}),
    },
  };
}

const statuses: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ALREADY_EXISTS',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
};

/** An API that is not enabled in the project. */
export const serviceDisabled = (service: string, project: string): GcpError =>
  new GcpError(
    403,
    'accessNotConfigured',
    `${service}.googleapis.com has not been used in project ${project} before or it is disabled. Enable it, then retry.`,
  );
