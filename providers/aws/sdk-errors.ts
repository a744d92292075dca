// Reads the SDK's errors, which carry EC2's code as their name.
import { classify } from './errors.ts';

export function codeOf(error: unknown): string {
  return error instanceof Error ? error.name : '';
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** True when EC2 itself answered. Otherwise the connection failed, and the outcome is unknown. */
export function isAnswer(error: unknown): boolean {
  return error instanceof Error && '$metadata' in error && hasStatus(error.$metadata);
}

/** True when the error does not exclude that something was launched. */
export function mayHaveLaunched(error: unknown): boolean {
  if (!isAnswer(error)) return true;
  const { scope, known } = classify(codeOf(error), messageOf(error));
  return known ? scope === 'cloud' || scope === 'throttle' : Number(metadataOf(error).httpStatusCode) >= 500;
}

/** True when a retry may be answered. */
export const mayPass = (error: unknown): boolean =>
  codeOf(error) !== 'CredentialsProviderError' && mayHaveLaunched(error);

/** The request id is empty when EC2 did not answer. */
export const errorOf = (error: unknown): { code: string; message: string; requestId: string } => ({
  code: codeOf(error),
  message: messageOf(error),
  requestId: requestIdOf(error),
});

function requestIdOf(error: unknown): string {
  const { requestId } = metadataOf(error);
  return typeof requestId === 'string' ? requestId : '';
}

function metadataOf(error: unknown): { httpStatusCode?: unknown; requestId?: unknown } {
  const metadata: unknown = error instanceof Error && '$metadata' in error ? error.$metadata : null;
  return typeof metadata === 'object' && metadata !== null ? { ...metadata } : {};
}

const hasStatus = (metadata: unknown): boolean =>
  typeof metadata === 'object' &&
  metadata !== null &&
  'httpStatusCode' in metadata &&
  metadata.httpStatusCode !== undefined;
