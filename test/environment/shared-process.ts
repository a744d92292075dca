// One instance in a process of its own, with a cache of its own: it gets the environment, sends its archive, and prints each
// stage and note, then its result, one JSON value a line. At the stage `holdAt` it stops permanently, to be killed there.
import { writeSync } from 'node:fs';

import { createApiClient } from '../../agent/api-client/client.ts';
import { createSharedBuilds } from '../../agent/api-client/shared-builds.ts';
import { ensureEnvironment } from '../../agent/runtimes/environment/environment.ts';
import { stageText } from '../../agent/runtimes/environment/stages.ts';
import type { PackageIndex } from '../../schema/software.ts';

export interface SharedProcessInput {
  apiUrl: string;
  token: string;
  cacheDir: string;
  requirements: string[];
  pinned: boolean;
  indexes: PackageIndex[];
  holdAt: string | null;
}

const input = JSON.parse(process.argv[2] ?? '') as SharedProcessInput;
const print = (value: unknown): void => {
  writeSync(1, `${JSON.stringify(value)}\n`);
};
const client = createApiClient({
  ...{ apiUrl: input.apiUrl, signal: new AbortController().signal },
  onTrouble: (text) => print({ trouble: text }),
});
const shared = createSharedBuilds({
  apiUrl: input.apiUrl,
  note: (note) => print({ note }),
  session: {
    token: () => input.token,
    call: async (request) => {
      const reply = await client.call({ ...request, token: () => input.token }).catch(() => null);
      if (reply !== null && reply.kind !== 'answer') throw new Error(JSON.stringify(reply));
      return reply?.answer ?? null;
    },
  },
});
const { requirements, pinned, indexes, cacheDir, holdAt } = input;
const made = await ensureEnvironment({
  ...{ cacheDir, requirements, pinned, indexes, pythonPath: 'python3', environment: process.env, shared },
  onStage: (stage, builder) => {
    print({ stage, text: stageText(stage, builder) });
    if (stage === holdAt) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  },
});
for (const upload of made.uploads) await upload();
print({ made: { ...made, uploads: made.uploads.length } });
