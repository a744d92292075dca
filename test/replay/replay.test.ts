// Histories recorded from a real server replay with today's code. twins.full.test.ts proves that these tests can fail.
import type { WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { beforeAll, describe, expect, it } from 'vitest';

import { bundle, names, read, replay, repo, typeOf } from './replay-history.ts';

describe('replay', () => {
  let today: WorkflowBundleWithSourceMap;
  beforeAll(async () => {
    today = await bundle(repo);
  });

  it.each(['cluster', 'job', 'sweep', 'stuckWorkflows', 'reconcile', 'scheduledRun'])(
    'has a recorded history of workflow type %s',
    (type) => {
      expect(names.some((name) => typeOf(read(name)) === type)).toBe(true);
    },
  );

  it.each(names)("%s replays with today's code", async (name) => {
    await expect(replay(today, name)).resolves.toBeUndefined();
  });
});
