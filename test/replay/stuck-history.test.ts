// Where the real code cannot follow a history whose failure names no event: found by replaying beginnings of it. The history
// is that of a stuck cluster (found by the kill matrix): its commands were decided in two steps, a replay makes one.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import proto from '@temporalio/proto';
import { expect, it } from 'vitest';

import { readStuckHistory } from '../../activities/stuck-history.ts';
import { createReplayer } from '../../platform/replayer.ts';

const root = join(import.meta.dirname, '../..');
const code = {
  workflowsPath: join(root, 'workflows/index.ts'),
  interceptors: { workflowModules: [join(root, 'workflows/updates-last.ts')] },
};

it('is found by the code of today', async () => {
  const bytes = readFileSync(join(root, 'test/activities/stuck-by-two-signals.bin'));
  const history = proto.temporal.api.history.v1.History.decode(bytes);
  const replayer = { buildId: () => 'today', violation: createReplayer(code) };
  const found = await readStuckHistory(history, replayer, { workflowId: 'cluster/39', runId: 'r', attempt: 8 });
  expect(found.writer).toMatchObject({ completedEventId: 59, hasUpdate: false, isRepeated: true });
});
