import { expect, it } from 'vitest';

import { mapAtOnce } from '../../domain/map-at-once.ts';

it('never works on more items than allowed, and answers in their order whatever ends first', async () => {
  let running = 0;
  let most = 0;
  const ends: (() => void)[] = [];
  const answers = mapAtOnce(['a', 'b', 'c', 'd', 'e'], 3, async (item) => {
    running += 1;
    most = Math.max(most, running);
    await new Promise<void>((resolve) => ends.push(resolve));
    running -= 1;
    return item.toUpperCase();
  });
  // The newest first.
  while (ends.length > 0) {
    ends.pop()?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await answers).toEqual(['A', 'B', 'C', 'D', 'E']);
  expect(most).toBe(3);
});

it('rejects with the first error', async () => {
  const failing = mapAtOnce([1, 2, 3], 2, async (item) => {
    if (item === 2) throw new Error(`item ${item}`);
    return item;
  });
  await expect(failing).rejects.toThrow('item 2');
});
