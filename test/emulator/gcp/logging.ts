// Cloud Logging: entries.write and entries.list, with the bounds of its documentation.
import { GcpError, invalid } from './gcp-error.ts';
import type { EmulatedProject } from './project.ts';

export interface LogEntry {
  logName: string;
  insertId: string;
  timestamp: string;
  labels: Record<string, string>;
  jsonPayload?: Record<string, unknown>;
  textPayload?: string;
  resource: { type: string; labels: Record<string, string> };
}

const maxRequestBytes = 10_000_000;
const maxEntryBytes = 256 * 1024;
/** Read requests per minute of one project. */
const readsPerMinute = 60;

interface WriteBody {
  entries?: Partial<LogEntry>[];
  logName?: string;
  resource?: LogEntry['resource'];
  labels?: Record<string, string>;
}

export function createLogging(project: EmulatedProject): (method: string, body: unknown) => object {
  let reads: number[] = [];
  const write = (text: WriteBody): object => {
    if (JSON.stringify(text).length > maxRequestBytes) throw invalid('Request payload size exceeds the limit.');
    for (const entry of text.entries ?? []) {
      const logName = entry.logName ?? text.logName ?? '';
      const resource = entry.resource ?? text.resource;
      if (!new RegExp(`^projects/${project.id}/logs/[A-Za-z0-9._%-]+$`).test(logName))
        throw invalid('A valid log name is required.');
      if (resource === undefined) throw invalid('A monitored resource is required.');
      if (JSON.stringify(entry).length > maxEntryBytes) throw invalid('Log entry is larger than 256 KB.');
      const isKnown = project.logs.some(
        (each) => each.logName === logName && each.insertId === entry.insertId && each.timestamp === entry.timestamp,
      );
      // Entries of one log with the same time and insertId are one entry.
      if (isKnown) continue;
      project.logs.push({
        insertId: String(project.logs.length),
        timestamp: new Date(project.clock.nowMs()).toISOString(),
        ...entry,
        ...{ logName, resource, labels: { ...text.labels, ...entry.labels } },
      });
    }
    return {};
  };
  const list = (asked: {
    resourceNames?: string[];
    filter?: string;
    orderBy?: string;
    pageSize?: number;
    pageToken?: string;
  }): object => {
    const nowMs = project.clock.nowMs();
    reads = reads.filter((atMs) => atMs > nowMs - 60_000);
    if (reads.length >= readsPerMinute)
      throw new GcpError(
        429,
        'rateLimitExceeded',
        "Quota exceeded for quota metric 'Read requests' and limit 'Read requests per minute'.",
      );
    reads.push(nowMs);
    if (asked.resourceNames?.[0] !== `projects/${project.id}`) throw invalid('resourceNames is required.');
    const found = project.logs
      .filter(matching(asked.filter ?? ''))
      .toSorted((a, b) => (a.timestamp < b.timestamp ? -1 : a.timestamp > b.timestamp ? 1 : 0));
    const from = Number(asked.pageToken ?? 0);
    const to = from + (asked.pageSize ?? 50);
    return { entries: found.slice(from, to), ...(to < found.length ? { nextPageToken: String(to) } : {}) };
  };
  return (method, body) => {
    if (typeof body !== 'object' || body === null) throw invalid('The body must be an object.');
    if (method === 'entries:write') return write(body);
    if (method === 'entries:list') return list(body);
    throw new GcpError(404, 'notFound', `The emulator has no ${method}.`);
  };
}

/** `a = "x" AND timestamp >= "..."`, the supported comparisons. */
function matching(filter: string): (entry: LogEntry) => boolean {
  const tests = filter
    .split(/\s+AND\s+/)
    .filter((part) => part !== '')
    .map((part) => {
      const [, field = '', operator = '', value = ''] = /^([\w.]+)\s*(=|>=)\s*"([^"]*)"$/.exec(part.trim()) ?? [];
      if (field === '') throw invalid(`Unparseable filter: ${part}`);
      return (entry: LogEntry): boolean => {
        const found =
          field === 'logName'
            ? entry.logName
            : field === 'timestamp'
              ? entry.timestamp
              : entry.labels[field.replace(/^labels\./, '')];
        if (found === undefined) return false;
        return operator === '=' ? found === value : Date.parse(found) >= Date.parse(value);
      };
    });
  return (entry) => tests.every((test) => test(entry));
}
