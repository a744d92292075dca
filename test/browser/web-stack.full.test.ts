// The web application on a whole stack: Temporal, the API, the worker and real agents, while the API is killed.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Browser } from 'playwright-core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { createClient } from '../../sdk/client.ts';
import { eventually } from '../support/eventually.ts';
import { startStack, type TestStack } from '../support/stack.ts';
import { hasChromium, launchChromium } from './chromium.ts';

/** Each task waits for its gate; the last one fails unless the cause of its failure is fixed. */
const script = [
  'until [ -e "$GATES/$ROPEWALK_BATCH_TASK_ID" ]; do sleep 0.1; done',
  '[ "$ROPEWALK_BATCH_TASK_ID" != 3 ] || [ -e "$GATES/mended" ] || exit 3',
].join('\n');

describe.runIf(hasChromium)('the web application on a whole stack', () => {
  const patient = 90_000;
  let gates = '';
  let stack: TestStack | null = null;
  let browser: Browser | null = null;
  beforeEach(async () => {
    gates = await mkdtemp(join(tmpdir(), 'ropewalk-gates-'));
    stack = await startStack();
    browser = await launchChromium();
  });
  afterEach(async () => {
    try {
      await browser?.close();
    } finally {
      await stack?.stop();
      await rm(gates, { recursive: true, force: true });
    }
  });
  const openGate = (name: string): Promise<void> => writeFile(join(gates, name), '');

  it('follows a job through kill -9 of the API to its end, and runs its failed task again', async () => {
    if (stack === null || browser === null) throw new Error('no stack');
    const { apiUrl, token, childPids, kill } = stack;
    const client = createClient({ apiUrl, token });
    const { number } = await client.jobs.create({
      ...{ name: 'gated', command: ['bash', '-c', script], env: { GATES: gates }, ntasks: 4, maxWorkers: 2 },
      retries: 0,
    });

    const page = await browser.newPage({ baseURL: apiUrl });
    page.setDefaultTimeout(patient);
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    await page.goto('/');
    await page.getByLabel('One of your API tokens').fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('link', { name: 'Jobs' }).click();
    await page.getByRole('link', { name: 'gated' }).click();
    await page.getByRole('heading', { name: 'gated' }).waitFor();
    const connection = page.locator('.connection');
    const progress = (done: number) => page.getByRole('img', { name: `${done} of 4 tasks are done` });
    await progress(0).waitFor();
    await openGate('0');
    await progress(1).waitFor();
    // A reload would remove it.
    await page.evaluate(() => Object.assign(window, { isSamePage: true }));

    const before = (await childPids())['api'];
    expect(before).toBeGreaterThan(0);
    const lost = connection.filter({ hasText: 'connection lost, trying again' }).waitFor();
    await Promise.all([lost, kill('api', 'SIGKILL')]);
    await eventually(async () => {
      const now = (await childPids())['api'];
      return now !== undefined && now !== before;
    });
    await connection.filter({ hasText: /^live$/ }).waitFor();
    for (const task of ['1', '2', '3']) await openGate(task);
    await progress(3).waitFor();
    await page.locator('.title .state').filter({ hasText: 'error' }).waitFor();
    expect(await page.evaluate(() => 'isSamePage' in window)).toBe(true);
    expect(await client.jobs.get(number)).toMatchObject({ status: 'error', tasks: { done: 3, error: 1 } });

    await openGate('mended');
    await page.getByRole('button', { name: 'Retry failed tasks' }).click();
    await page.getByRole('button', { name: 'Yes, retry failed tasks' }).click();
    await page.getByText('Runs again tasks of').waitFor();
    const again = Number(new URL(page.url()).pathname.split('/').at(-1));
    expect(again).not.toBe(number);
    const ended = await client.jobs.wait(again);
    expect(ended).toMatchObject({ status: 'done', retryOf: number, tasks: { total: 1, done: 1 } });
    await page.locator('.title .state').filter({ hasText: 'done' }).waitFor();
    expect(errors).toEqual([]);
  });
});
