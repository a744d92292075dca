// Which provider's logs are read: those of the cluster's own, and of no other.
import { RopewalkError } from '../domain/errors.ts';
import type { LogLine, LogQuery } from '../providers/provider.ts';

type ReadLogs = (query: LogQuery) => AsyncIterable<LogLine>;

/** `aws`: null where this control plane has no AWS account. */
export function createProviderLogs(readers: { local: ReadLogs; aws: ReadLogs | null }) {
  return (provider: string, query: LogQuery): AsyncIterable<LogLine> => {
    if (provider === 'local') return readers.local(query);
    if (provider === 'aws' && readers.aws !== null) return readers.aws(query);
    throw new RopewalkError({
      code: 'NOT_FOUND',
      message: `Cluster ${query.owner.cluster} ran on ${provider}, and this control plane has no access to its logs any more.`,
      hint: 'An operator sets ROPEWALK_AWS_SETTINGS (docs/aws.md) for this API, as it was when the cluster ran.',
    });
  };
}
