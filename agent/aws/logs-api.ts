// The agent's few calls of CloudWatch Logs, signed with its role's credentials; the whole AWS SDK would be many times the
// agent's size. Every answer becomes one outcome that determines the next step.
import { AwsV4Signer } from 'aws4fetch';

import { logRetentionDays } from '../../domain/cloud-names.ts';
import type { RoleCredentials } from './credentials.ts';
import type { LogsApi, PutOutcome } from '../logs/logs-api.ts';

export interface LogsApiInput {
  endpoint: string;
  region: string;
  group: string;
  stream: string;
  credentials: RoleCredentials;
}

export const defaultLogsEndpoint = (region: string): string => `https://logs.${region}.amazonaws.com`;

const attemptTimeoutMs = 10_000;

export function createLogsApi({ endpoint, region, group, stream, credentials }: LogsApiInput): LogsApi {
  const call = (action: string, body: object): Promise<PutOutcome> =>
    attempt({ endpoint, region, credentials }, action, JSON.stringify({ logGroupName: group, ...body }));
  const createGroup = async (): Promise<PutOutcome> => {
    const created = await call('CreateLogGroup', {});
    if (created.kind !== 'taken') return created;
    // Also set for an existing group: the instance that created it may have ended before setting it.
    return call('PutRetentionPolicy', { retentionInDays: logRetentionDays });
  };
  return {
    put: (events) => call('PutLogEvents', { logStreamName: stream, logEvents: events }),
    create: async () => {
      const created = await call('CreateLogStream', { logStreamName: stream });
      if (created.kind !== 'missing') return created;
      const made = await createGroup();
      if (made.kind === 'again') return made;
      const again = await call('CreateLogStream', { logStreamName: stream });
      return again.kind === 'missing' ? { kind: 'again', text: `there is no log group ${group}` } : again;
    },
  };
}

async function attempt(
  { endpoint, region, credentials }: Pick<LogsApiInput, 'endpoint' | 'region' | 'credentials'>,
  action: string,
  body: string,
): Promise<PutOutcome> {
  try {
    const role = await credentials.get();
    if (role === null) return { kind: 'again', text: 'this instance has no role, so it may write no logs' };
    const headers = { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': `Logs_20140328.${action}` };
    const signer = new AwsV4Signer({ method: 'POST', url: endpoint, headers, body, ...role, service: 'logs', region });
    const { method, url, headers: signed } = await signer.sign();
    const signal = AbortSignal.timeout(attemptTimeoutMs);
    const response = await fetch(url, { method, headers: signed, body, signal });
    const text = await response.text();
    return response.ok ? { kind: 'taken' } : judge(response.status, action, text, credentials);
  } catch (error) {
    return { kind: 'again', text: `${action}: ${describe(error)}` };
  }
}

function judge(status: number, action: string, body: string, credentials: RoleCredentials): PutOutcome {
  const code = /"__type"\s*:\s*"(?:[^"#]*#)?([A-Za-z]+)/.exec(body)?.[1] ?? `status ${status}`;
  const text = `${action}: ${code}`;
  if (done.has(code)) return { kind: 'taken' };
  if (code === 'ResourceNotFoundException') return { kind: 'missing' };
  if (!refused.has(code)) {
    // Expired credentials are renewed; a policy may be corrected meanwhile.
    if (status === 403 || /Token|Signature|Credential|Access|Client/.test(code)) credentials.forget();
    return { kind: 'again', text };
  }
  return { kind: 'refused', text };
}

const done = new Set(['ResourceAlreadyExistsException', 'DataAlreadyAcceptedException']);
/** Every other error may pass: throttling, an outage, an account's limit, a permission granted late. */
const refused = new Set(['InvalidParameterException', 'ValidationException', 'SerializationException']);

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
