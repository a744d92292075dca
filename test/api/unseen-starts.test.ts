// Starts are delayed while the workflows of earlier ones have not written a view: overloaded Temporal workers get no more.
import { expect, it } from 'vitest';

import { createUnseenStarts } from '../../services/admission/unseen.ts';
import { aJobView, admitted, addWorkspace, startMs } from '../store/fixtures.ts';
import { openMemoryStore } from '../../store/open.ts';

it('starts have room again when views are written, rows have ended, or a minute has passed', async () => {
  const store = await openMemoryStore();
  const { slug } = await addWorkspace(store);
  const clock = { nowMs: 0 };
  const starts = createUnseenStarts({ store, monotonicMs: () => clock.nowMs }, 3);
  const [first, second, third] = [
    await admitted(store, slug),
    await admitted(store, slug),
    await admitted(store, slug),
  ];
  expect(await starts.room()).toBe(3);
  for (const { number } of [first, second, third]) starts.add('job', number);
  expect(await starts.room()).toBe(0);
  await store.jobs.project({ view: aJobView(slug, first.number), version: 1, nowMs: startMs });
  expect(await starts.room()).toBe(1);
  starts.add('cluster', 99);
  expect(await starts.room()).toBe(0);
  const view = aJobView(slug, second.number, { status: 'done', endedAtMs: startMs });
  await store.jobs.end({ view, version: 1, release: true, nowMs: startMs });
  expect(await starts.room()).toBe(1);
  starts.add('cluster', 100);
  clock.nowMs = 60_001;
  expect(await starts.room()).toBe(3);
  await store.close();
});
