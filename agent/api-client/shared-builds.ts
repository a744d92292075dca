// The API calls for environments that instances share. No call waits as long as an outage may last, because the instance can
// build by itself.
import { buildArchiveAnswer, buildClaimAnswer, buildProgressAnswer } from '../../schema/shared-builds.ts';
import type { SharedBuilds, SharedNote } from '../runtimes/environment/shared/port.ts';
import { jsonBy } from './client.ts';
import type { Session } from './session.ts';

export interface SharedBuildsInput {
  session: Pick<Session, 'call' | 'token'>;
  apiUrl: string;
  note: (note: SharedNote) => void;
}

export function createSharedBuilds({ session, apiUrl, note }: SharedBuildsInput): SharedBuilds {
  const post = <T>(path: string, body: unknown, parse: (json: unknown) => T): Promise<T | null> =>
    session.call({
      method: 'POST',
      path: `/v1/agent/environment-builds${path}`,
      body: () => body,
      read: jsonBy(parse),
      signal: AbortSignal.timeout(patienceMs),
      // A refusal ends no work: the instance builds by itself.
      onRefused: () => null,
    });
  return {
    claim: (ask) => post('', ask, (json) => buildClaimAnswer.parse(json)),
    progress: async (build, said) => {
      await post(`/${build}/progress`, said, (json) => buildProgressAnswer.parse(json));
    },
    announce: (build, archive) => post(`/${build}/archive`, archive, (json) => buildArchiveAnswer.parse(json)),
    place: (build, sha256) => ({
      url: new URL(`/v1/agent/environment-archives/${build}/${sha256}`, apiUrl).href,
      headers: { authorization: `Bearer ${session.token()}` },
    }),
    note,
  };
}

/** Time for an API to restart. */
const patienceMs = 30_000;
