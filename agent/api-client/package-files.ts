// Downloads the package files of an instance's job or cluster.
import { createHash } from 'node:crypto';

import type { FetchPackageFile } from '../runtimes/environment/build.ts';
import type { Session } from './session.ts';

/** A file with other bytes than those that were asked for is fetched again: a proxy may have answered. */
export const packageFilesOf =
  (session: Session): FetchPackageFile =>
  async ({ name, sha256 }) => {
    const bytes = await session.call({
      method: 'GET',
      path: `/v1/agent/package-files/${sha256}`,
      timeoutMs: downloadTimeoutMs,
      read: (answer) => {
        if (createHash('sha256').update(answer).digest('hex') !== sha256) throw new Error(`${name} arrived damaged`);
        return answer;
      },
    });
    if (bytes === null) throw new Error(`${name} was not downloaded: the agent stops`);
    return bytes;
  };

/** At most 16 MiB each: 140 kB/s. */
const downloadTimeoutMs = 120_000;
