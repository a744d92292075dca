// The pages of one cluster and one job beyond their state: their past, idle GPUs, failures by cause, files.
import { describe, expect, it } from 'vitest';

import { recordChanges } from '../../domain/cluster/changes.ts';
import { addEvent } from '../../domain/cluster/notes.ts';
import type { ClusterState } from '../../domain/cluster/state.ts';
import { openInterval } from '../../domain/cost/ledger.ts';
import { recordTask } from '../../domain/job/rules.ts';
import { createTestApi, endedView, launch } from '../api/support.ts';
import { hasChromium } from './chromium.ts';
import { hostile, useWebApp } from './web-app.ts';

describe.runIf(hasChromium)('the details of a cluster and a job', () => {
  const app = useWebApp(({ bundle }) => createTestApi({ web: bundle }));
  const { complaints, signIn, accessible } = app;
  const minuteMs = 60_000;

  function stateOf(number: number): ClusterState {
    const state = app.api.workflows.clusters.get(number);
    if (state === undefined) throw new Error('no cluster');
    return state;
  }

  /** Begun an hour ago; its second instance and a hostile event came in the middle. */
  async function startPast(): Promise<number> {
    app.api.clock.offsetMs = -60 * minuteMs;
    const number = await app.api.startCluster({ name: 'history', workers: 1 });
    const state = stateOf(number);
    const add = (id: string, slot: number): void => {
      launch(app.api, number, id, slot);
      const instance = state.instances.at(-1);
      if (instance !== undefined)
        openInterval(state, {
          ...instance,
          price: { microsPerHour: 6_000_000, diskMicrosPerHour: 0, addressMicrosPerHour: 0, source: 'a test' },
        });
      recordChanges(state, app.api.now());
    };
    add('i_first', 0);
    app.api.clock.offsetMs = -30 * minuteMs;
    add('i_second', 1);
    addEvent(state, app.api.now(), 'NOTE', hostile);
    app.api.clock.offsetMs = 0;
    return number;
  }

  it('a slider shows what a cluster was, by the mouse and the keyboard, with hostile texts as texts', async () => {
    const number = await startPast();
    await signIn();
    await app.page.goto(`/clusters/${number}`);
    await app.page.getByText('Time machine').click();
    const past = app.page.getByRole('table', { name: 'Instances at that moment' });
    await past.getByText('i_second').waitFor();
    const slider = app.page.getByRole('slider', { name: 'Moment' });
    await slider.fill('250');
    await past.getByText('i_second').waitFor({ state: 'detached' });
    await past.getByText('i_first').waitFor();
    await app.page.locator('.past').getByText('$1.50').waitFor();
    expect(await app.page.locator('.past').textContent()).not.toContain('owned');
    await slider.press('End');
    await app.page.locator('.past').getByText(hostile).waitFor();
    expect(await app.page.locator('main img, main script').count()).toBe(0);
    await slider.press('Home');
    await past.waitFor({ state: 'detached' });
    await slider.fill('750');
    await past.getByText('i_second').waitFor();
    await accessible('cluster-past');
    expect(complaints).toEqual([]);
  });

  it('a cluster says how many of its GPUs do nothing, and since when', async () => {
    const number = await app.api.startCluster({ name: 'learning', workers: 1 });
    const state = stateOf(number);
    const { view } = await app.api.deps.views.cluster('default', number);
    const gpus = { total: 8, idle: 5, sinceMs: app.api.now() - 20 * minuteMs };
    state.endedAtMs = app.api.now();
    await app.api.store.clusters.end({
      view: { ...view, gpus, endedAtMs: null },
      version: 99,
      nowMs: app.api.now(),
      release: true,
    });
    await signIn();
    await app.page.goto(`/clusters/${number}`);
    await app.page
      .getByText(/5 of 8 idle since/)
      .first()
      .waitFor();
    await accessible('cluster-gpus');
    expect(complaints).toEqual([]);
  });

  it('a job shows its failures by cause, its past and its files, and runs failed tasks again', async () => {
    const number = await app.api.submit({
      name: 'flaky',
      command: ['sh', '-c', 'exit 3'],
      ntasks: 4,
      storeFiles: true,
    });
    const job = app.api.workflows.jobs.get(number);
    if (job === undefined) throw new Error('no job');
    const nowMs = app.api.now();
    for (let task = 0; task < 4; task += 1) {
      const ran = { attempt: 1, exitCode: task === 0 ? 0 : 3, signal: null, instance: 'i_a', reason: null };
      const times = { startedAtMs: nowMs - 10 * minuteMs, endedAtMs: nowMs - 5 * minuteMs };
      recordTask(job, { task, state: task === 0 ? 'done' : 'error', ...ran, ...times });
    }
    const failures = [{ code: 'EXIT_3', text: `exit code 3 ${hostile}`, count: 3, lastAtMs: nowMs }];
    const view = { ...endedView(app.api, number), failures };
    await signIn();
    await app.api.store.jobs.end({ view, version: 99, nowMs, release: true });
    await app.page.goto(`/jobs/${number}`);
    await app.page.getByRole('table', { name: 'Failures, grouped' }).getByText(hostile).waitFor();
    await app.page.getByText('Files', { exact: true }).click();
    await app.page.getByText('This job has kept no file.').waitFor();
    await app.page.getByText('Time machine').click();
    await app.page.locator('.past').getByText('of 4').waitFor();
    await accessible('job-past');
    await app.page.getByRole('button', { name: 'Retry failed tasks' }).click();
    await app.page.getByRole('button', { name: 'Yes, retry failed tasks' }).click();
    await app.page.getByText('Runs again tasks of').waitFor();
    expect(complaints).toEqual([]);
  });
});
