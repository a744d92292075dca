// Downloads the package files of an instance's job or cluster.
import { createHash } from 'node:crypto';

import type { FetchPackageFile } from '../runtimes/environment/build.ts';
import type { Session } from './session.ts';

/** Fetches a file again when its hash differs: a proxy may have answered. */
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

/** Files have at most 16 MiB, so this allows 140 kB/s. */
const downloadTimeoutMs = 120_000;
