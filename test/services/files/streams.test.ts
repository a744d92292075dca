import { expect, it } from 'vitest';

import { createFileStreams } from '../../../services/files/streams.ts';

it('refuses a file while as many as may be are under way, and takes one again when one has ended or failed', async () => {
  const streams = createFileStreams(2);
  const first = Promise.withResolvers<string>();
  const second = Promise.withResolvers<string>();
  const running = [streams.run(() => first.promise), streams.run(() => second.promise)];
  await expect(streams.run(async () => 'third')).rejects.toMatchObject({
    problem: { code: 'TOO_BUSY' },
    retryAfterMs: 1_000,
  });

  first.resolve('first');
  expect(await running[0]).toBe('first');
  expect(await streams.run(async () => 'third')).toBe('third');

  second.reject(new Error('disk full'));
  await expect(running[1]).rejects.toThrow('disk full');
  const both = [streams.run(async () => 4), streams.run(async () => 5)];
  expect(await Promise.all(both)).toEqual([4, 5]);
});
