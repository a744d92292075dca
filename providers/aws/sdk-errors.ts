// The SDK's errors carry EC2's code as their name.

export function codeOf(error: unknown): string {
  return error instanceof Error ? error.name : '';
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** True when EC2 itself answered: then the code means something. Otherwise the connection broke, and nothing is known. */
export function isAnswer(error: unknown): boolean {
  return error instanceof Error && '$metadata' in error && hasStatus(error.$metadata);
}

const hasStatus = (metadata: unknown): boolean =>
  typeof metadata === 'object' &&
  metadata !== null &&
  'httpStatusCode' in metadata &&
  metadata.httpStatusCode !== undefined;
