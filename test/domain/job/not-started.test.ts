// The reason why no task of an admitted job has started yet.
import { expect, it } from 'vitest';

import { notStartedReason } from '../../../domain/job/not-started.ts';

const job = { number: 12, instances: 3, submittedAtMs: 7 };

it('waits for instances until one has registered, and then for what tasks run in', () => {
  const waiting = { code: 'WAITING_FOR_INSTANCES', text: '0 of 3 instances have registered.', atMs: 7 };
  expect(notStartedReason(job, null)).toEqual(waiting);
  expect(notStartedReason(job, { instances: [{ state: 'launched' }] })).toEqual(waiting);
  const one = notStartedReason({ ...job, instances: 1 }, { instances: [{ state: 'ready' }] });
  expect(one.text).toMatch(/^1 of 1 instance has registered\./);
  const preparing = notStartedReason(job, {
    instances: [{ state: 'ready' }, { state: 'launched' }, { state: 'ready' }],
  });
  expect(preparing).toMatchObject({
    code: 'PREPARING',
    text: expect.stringMatching(/^2 of 3 instances .*batch logs 12 --instances/),
  });
});
