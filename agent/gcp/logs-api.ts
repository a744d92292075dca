// The agent's single call of Cloud Logging, with the token of its service account. An entry's insert id is the number of its
// line, so Google drops resent lines.
import { gceLog } from '../../domain/cloud-names.ts';
import type { LogEvent } from '../logs/log-queue.ts';
import type { LogsApi, PutOutcome } from '../logs/logs-api.ts';
import type { GceInstance } from './instance.ts';
import type { AccessToken } from './access-token.ts';

export interface LogsApiInput {
  endpoint: string;
  instance: GceInstance;
  token: AccessToken;
}

export const defaultLogsEndpoint = 'https://logging.googleapis.com';

const attemptTimeoutMs = 10_000;
export function createLogsApi({ endpoint, instance, token }: LogsApiInput): LogsApi {
  const { name, numericId, zone, project, boot } = instance;
  const common = {
    logName: `projects/${project}/logs/${gceLog.name}`,
    resource: { type: 'gce_instance', labels: { project_id: project, instance_id: numericId, zone } },
    labels: {
      [gceLog.workspace]: boot.owner.workspace,
      [gceLog.cluster]: String(boot.owner.cluster),
      [gceLog.instance]: name,
    },
  };
  return {
    // A log is created with its first entry.
    create: async () => ({ kind: 'taken' }),
    put: async (events): Promise<PutOutcome> => {
      try {
        const accessToken = await token.get();
        if (accessToken === null)
          return { kind: 'again', text: 'this instance has no service account, so it can write no logs' };
        const response = await fetch(`${endpoint}/v2/entries:write`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${accessToken}` },
          body: JSON.stringify({ ...common, entries: events.map((event) => entryOf(event, name)) }),
          signal: AbortSignal.timeout(attemptTimeoutMs),
        });
        const text = await response.text();
        if (response.ok) return { kind: 'taken' };
        if (response.status === 400) return { kind: 'refused', text: `entries.write: ${text.slice(0, 300)}` };
        // The permission may be granted later.
        if (response.status === 401 || response.status === 403) token.forget();
        return { kind: 'again', text: `entries.write: status ${response.status}` };
      } catch (error) {
        return { kind: 'again', text: `entries.write: ${error instanceof Error ? error.message : String(error)}` };
      }
    },
  };
}

function entryOf({ timestamp, message }: LogEvent, name: string): object {
  const jsonPayload: { n?: unknown } = JSON.parse(message);
  return { insertId: `${name}-${String(jsonPayload.n)}`, timestamp: new Date(timestamp).toISOString(), jsonPayload };
}
