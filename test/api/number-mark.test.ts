// The mark of the numbers in the object store, from which a replacement database continues the numbers.
import { expect, it } from 'vitest';

import { continueNumbers, moveMark, numberMarkKey } from '../../services/number-mark.ts';
import { createTestApi } from './support.ts';

async function anApi(databaseSinceMs: number) {
  const api = await createTestApi();
  await api.store.deployment.claim('dep_1', databaseSinceMs);
  return { ...api.deps, submit: () => api.submit({}), logged: api.logged };
}

it('a new database beside the object store of another one gives no number out again', async () => {
  const first = await anApi(1);
  const numbers = [await first.submit(), await first.submit()];
  await moveMark(first, null);

  const second = { ...(await anApi(2)), objects: first.objects };
  await continueNumbers(second);
  expect(await second.submit()).toBeGreaterThan(Math.max(...numbers));
  expect(second.logged.some((line) => line.includes('new jobs and clusters are numbered after those'))).toBe(true);
});

it('the same database continues where it was, also after the mark was moved', async () => {
  const api = await anApi(1);
  const mark = await moveMark(api, null);
  const number = await api.submit();
  await continueNumbers(api);
  expect(await api.submit()).toBe(number + 1);
  expect(await moveMark(api, mark)).toBe(mark);
});

it('the mark stays ahead of all numbers', async () => {
  const api = await anApi(1);
  const mark = (await moveMark(api, null)) ?? 0;
  await api.store.deployment.reserveNumbersTo(mark - 1);
  expect(await moveMark(api, mark)).toBeGreaterThan(mark);
});

it('a damaged mark is reported and written anew', async () => {
  const api = await anApi(1);
  await api.objects.put(numberMarkKey, Buffer.from('{'));
  await continueNumbers(api);
  expect(api.logged.some((line) => line.includes(numberMarkKey))).toBe(true);
  await moveMark(api, null);
  expect(await api.objects.get(numberMarkKey)).not.toEqual(Buffer.from('{'));
});
