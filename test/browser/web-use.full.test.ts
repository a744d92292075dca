// Users' actions on the pages: change the size of a cluster, read logs and older pages of a list, by the mouse and the keyboard.
import { describe, expect, it } from 'vitest';

import type { ClusterState } from '../../domain/cluster/state.ts';
import { endTasks } from '../builders/end-tasks.ts';
import { createTestApi, launch } from '../api/support.ts';
import { eventually } from '../support/eventually.ts';
import { hasChromium } from './chromium.ts';
import { hostile, useWebApp } from './web-app.ts';

describe.runIf(hasChromium)('the use of the pages', () => {
  const app = useWebApp(({ bundle }) => createTestApi({ web: bundle }));
  const { complaints, signIn, accessible } = app;

  async function openCluster(name: string): Promise<ClusterState> {
    const number = await app.api.startCluster({ name, workers: 3 });
    for (let slot = 0; slot < 4; slot += 1) launch(app.api, number, `i_${name}_${slot}`, slot);
    const state = app.api.workflows.clusters.get(number);
    if (state === undefined) throw new Error('no cluster');
    await signIn();
    await app.page.goto(`/clusters/${number}`);
    await app.page.getByText(`i_${name}_0`).waitFor();
    return state;
  }

  it('an empty number of workers scales nothing; a range turns adaptive scaling on', async () => {
    const state = await openCluster('blue');
    const sent: string[] = [];
    app.page.on(
      'request',
      (request) => void (request.method() === 'POST' && sent.push(new URL(request.url()).pathname)),
    );
    await app.page.getByLabel('Workers').fill('');
    await app.page.getByRole('button', { name: 'Scale' }).click();
    await app.page.getByLabel('Workers').fill('2');
    await app.page.getByRole('button', { name: 'Scale' }).click();
    await eventually(() => state.target === 3);
    expect(sent).toEqual([`/v1/clusters/${state.number}/scale`]);
    await app.page.getByLabel('Scaling').selectOption('adaptive');
    await app.page.getByLabel('Minimum').fill('1');
    await app.page.getByLabel('Maximum').fill('6');
    await accessible('cluster-adapt');
    await app.page.getByRole('button', { name: 'Adapt' }).click();
    await app.page.getByText('adaptive, 1 to 6').waitFor();
    expect(state.dask?.adaptive).toMatchObject({ minimum: 1, maximum: 6 });
    await app.page.getByLabel('Scaling').selectOption('by hand');
    await app.page.getByRole('button', { name: 'Scale' }).click();
    await app.page.locator('.facts').getByText('by hand').waitFor();
    expect(complaints).toEqual([]);
  });

  it('shows what a cluster was asked to be, and opens Jupyter where there is one', async () => {
    const number = await app.api.startCluster({
      ...{ name: 'notes', workers: 1, jupyter: true, idleTimeout: '30m' },
      software: { requirements: ['pandas==2.3.1'], python: '3.12' },
    });
    launch(app.api, number, 'i_head', 0);
    const { dask = null } = app.api.workflows.clusters.get(number) ?? {};
    if (dask === null) throw new Error('no Dask');
    dask.schedulerAddress = 'tls://127.0.0.1:8786';
    await signIn();
    await app.page.goto(`/clusters/${number}`);
    await app.page.getByText('30 min', { exact: true }).waitFor();
    await app.page.getByText('Packages', { exact: true }).click();
    await app.page.getByText('pandas==2.3.1').waitFor();
    await accessible('cluster-configuration');
    const asked = app.page.waitForRequest('**/jupyter-link');
    await app.page.getByRole('button', { name: 'Open Jupyter' }).click();
    expect((await asked).method()).toBe('POST');
  });

  it('the focus stays where one acts: on the answers to a question, and on its button again', async () => {
    await openCluster('blue');
    const focused = () => app.page.evaluate(() => document.activeElement?.textContent);
    await app.page.getByRole('button', { name: 'Stop' }).focus();
    await app.page.keyboard.press('Enter');
    await eventually(async () => (await focused()) === 'No');
    await app.page.keyboard.press('Enter');
    await eventually(async () => (await focused()) === 'Stop');
    await app.page.keyboard.press('Enter');
    await eventually(async () => (await focused()) === 'No');
    await app.page.keyboard.press('Shift+Tab');
    await app.page.keyboard.press('Enter');
    await app.page.locator('.title .state', { hasText: 'stopping' }).waitFor();
  });

  it('a cluster shows what it has computed, by function, and its exceptions', async () => {
    const state = await openCluster('blue');
    if (state.dask === null) throw new Error('no Dask');
    state.dask.report = {
      ...{ tasks: { processing: 0, waiting: 0, memory: 0, erred: 2, noWorker: 0 }, clients: 1, idleForMs: null },
      ...{ adaptiveTarget: null, workers: [] },
      usage: {
        groups: [{ name: `inc${hostile}`.slice(0, 80), tasks: 12, erred: 2, computeSeconds: 90, transferSeconds: 0.5 }],
        exceptions: [{ type: 'ValueError', count: 2 }],
        memory: { usedBytes: 2 ** 30, limitBytes: 2 ** 32 },
      },
    };
    const functions = app.page.getByRole('table', { name: /^Tasks by function/ });
    await functions.getByText('1 min 30 s').waitFor();
    await app.page.getByRole('table', { name: 'Exceptions of failed tasks' }).getByText('ValueError').waitFor();
    await app.page.getByText('1.0 GiB of 4.0 GiB').waitFor();
    expect(await app.page.locator('main img, main script').count()).toBe(0);
    await accessible('cluster-usage');
    expect(complaints).toEqual([]);
  });

  it('logs show their newest lines, are searched with their task, and are those of one task on request', async () => {
    const number = await app.api.submit({ name: 'talking', command: ['true'], ntasks: 3 });
    const job = app.api.workflows.jobs.get(number);
    if (job === undefined) throw new Error('no job');
    const nowMs = app.api.now();
    endTasks(job, [0, 1, 2], () => ({ exitCode: 0, startedAtMs: nowMs - 2_000, endedAtMs: nowMs }));
    app.api.logs.read = async function* ({ tasks }) {
      for (let line = 0; line < 300; line += 1) {
        const task = line % 3;
        if (tasks !== undefined && !tasks.has(task)) continue;
        yield { atMs: nowMs, instance: 'i_a', task, attempt: 1, stream: 'stdout', text: `line ${line}` };
      }
    };
    await signIn();
    await app.page.goto(`/jobs/${number}`);
    await app.page.locator('.logs summary').click();
    const pane = app.page.getByLabel('Log lines');
    await pane.getByText('line 299').waitFor();
    await eventually(() => pane.evaluate((each) => each.scrollTop + each.clientHeight > each.scrollHeight - 5));
    await app.page.getByLabel('Search in the logs').fill('(task 2) line 29');
    await eventually(async () => (await pane.textContent())?.trim().split('\n').length === 5);
    await app.page.getByLabel('Search in the logs').fill('');
    await app.page.getByRole('button', { name: 'Logs of task 1' }).click();
    await app.page.getByText('Logs of task 1', { exact: true }).waitFor();
    await eventually(async () => {
      const text = (await pane.textContent()) ?? '';
      return text.includes('(Task 1)') && !text.includes('(Task 0)');
    });
    await app.page.getByRole('button', { name: 'All tasks' }).click();
    await pane.getByText('(Task 0)').waitFor();
    expect(complaints).toEqual([]);
  });

  it('reads the list of jobs beyond its newest page', async () => {
    for (let job = 0; job < 203; job += 1) await app.api.submit({ name: `many-${job}`, command: ['true'] });
    await signIn();
    await app.page.goto('/jobs');
    await app.page.getByRole('link', { name: 'many-202' }).waitFor();
    expect(await app.page.getByRole('link', { name: 'many-0', exact: true }).count()).toBe(0);
    await app.page.getByRole('button', { name: 'Show more' }).click();
    await app.page.getByRole('link', { name: 'many-0', exact: true }).waitFor();
    await app.page.getByRole('button', { name: 'Show more' }).waitFor({ state: 'detached' });
    await app.api.submit({ name: 'newest', command: ['true'] });
    await app.page.getByRole('link', { name: 'newest' }).waitFor();
    await eventually(async () => (await app.page.getByRole('row').count()) === 205);
    expect(complaints).toEqual([]);
  });
});
