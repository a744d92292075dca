// Specifications in the object store that are missing or damaged: a retry does not repair them.
import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, it } from 'vitest';

import { createSpecActivities, readSpec } from '../../activities/specs.ts';
import type { Objects } from '../../platform/objects/objects.ts';

const stored = (text: string | null): Objects => ({
  get: () => Promise.resolve(text === null ? null : Buffer.from(text)),
  put: () => Promise.resolve(),
  create: () => Promise.resolve(true),
  delete: () => Promise.resolve(),
  list: () => Promise.resolve([]),
});

describe.each([
  ['missing', null],
  ['damaged', '{"v":1,'],
])('a %s specification', (_, text) => {
  it('ends the workflow that needs it, without retries', async () => {
    const activities = createSpecActivities({ objects: stored(text) });
    const load = (): Promise<unknown> => activities.loadJob({ specRef: 'specs/default/adm_1.json' });
    const loading = new MockActivityEnvironment().run(load);
    await expect(loading).rejects.toMatchObject({ type: 'SpecMissing', nonRetryable: true });
  });

  it('is none for the reconciliation, which goes on with what the row says', async () => {
    const read = (): Promise<unknown> => readSpec(stored(text), 'specs/default/adm_1.json');
    expect(await new MockActivityEnvironment().run(read)).toBeNull();
  });
});
