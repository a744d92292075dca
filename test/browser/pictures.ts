// Makes the pictures of README.md and docs/web.md: the pages of a stack that runs a job and a Dask cluster on this machine.
//
//   node test/browser/pictures.ts [DIRECTORY]    (docs unless given; they stay small as PNG with a palette: pngquant)
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

import type { Page } from 'playwright-core';

import { createClient } from '../../sdk/client.ts';
import { startStack } from '../support/stack.ts';
import { launchChromium } from './chromium.ts';

const [, , directory = 'docs'] = process.argv;
const repository = join(import.meta.dirname, '..', '..');
/** One task in 97 fails. */
const task = 'sleep 0.0$((ROPEWALK_BATCH_TASK_ID * 7 % 10)); [ $((ROPEWALK_BATCH_TASK_ID % 97)) != 11 ]';
const patientMs = 600_000;

/** `top`: the element that is moved to the top of the picture. */
async function take(page: Page, name: string, top: string): Promise<void> {
  const place = page.locator(top).first();
  await place.waitFor();
  await place.evaluate((element) => window.scrollTo(0, element.getBoundingClientRect().top + window.scrollY - 12));
  await page.screenshot({ path: join(directory, `web-${name}.png`) });
  console.log(`${name}: done`);
}

const stack = await startStack({ env: { ROPEWALK_LOCAL_DOLLARS_PER_HOUR: '0.36' } });
const browser = await launchChromium();
try {
  const client = createClient({ apiUrl: stack.apiUrl, token: stack.token });
  const job = await client.jobs.create({
    ...{ name: 'station-summary', command: ['bash', '-c', task], ntasks: 1_200, maxWorkers: 3, retries: 0 },
  });
  await client.jobs.wait(job.number);
  const cluster = await client.clusters.create({ name: 'weather-means', workers: 4, idleTimeout: '4h' });
  await client.clusters.waitForWorkers(cluster.number, 4);
  const words = ['bin/ropewalk.mjs', 'cluster', 'exec', String(cluster.number), '--'];
  const script = ['python', 'examples/weather_dask.py', 'examples/weather'];
  const env = { ...process.env, ROPEWALK_HOME: stack.home };
  await promisify(execFile)(process.execPath, [...words, ...script], { cwd: repository, env });

  const page = await browser.newPage({
    ...{ baseURL: stack.apiUrl, colorScheme: 'light', viewport: { width: 1180, height: 760 } },
  });
  page.setDefaultTimeout(patientMs);
  await page.goto('/');
  await page.getByLabel('One of your API tokens').fill(stack.token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('link', { name: 'weather-means' }).click();
  await page.getByText('The cluster is ready and idle').waitFor();
  await page.getByRole('heading', { name: 'Cost over time' }).waitFor();
  await take(page, 'cluster', 'header');
  await page.getByText('Time machine').click();
  await page.getByLabel('Moment').fill('700');
  await page.locator('.past table').nth(1).waitFor();
  await take(page, 'past', '.past');
  await page.goto(`/jobs/${job.number}`);
  await page.getByRole('heading', { name: 'Cost over time' }).waitFor();
  await take(page, 'job', 'h2:text("Progress")');
  await client.clusters.stop(cluster.number);
} finally {
  await browser.close();
  await stack.stop();
}
