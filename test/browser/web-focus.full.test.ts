// Where the focus of the keyboard is after a page, a row or a button has gone.
import { describe, expect, it } from 'vitest';

import { createTestApi } from '../api/support.ts';
import { eventually } from '../support/eventually.ts';
import { hasChromium } from './chromium.ts';
import { useWebApp } from './web-app.ts';

describe.runIf(hasChromium)('the focus of the keyboard', () => {
  let boss: string;
  const app = useWebApp(async ({ bundle }) => {
    const api = await createTestApi({ web: bundle });
    boss = await api.addToken('default', ['read', 'write', 'admin'], 'boss', 'admin');
    return api;
  });
  const { complaints, openAs } = app;
  const press = (key: string) => app.page.keyboard.press(key);
  const button = (name: string) => app.page.getByRole('button', { name, exact: true });
  /** Element and text of the focused one. */
  const focus = () =>
    app.page.evaluate(() => {
      const focused = document.activeElement;
      const name = focused?.getAttribute('aria-label') ?? focused?.textContent ?? '';
      return focused === document.body ? 'body' : `${focused?.tagName.toLowerCase()} ${name}`;
    });
  const isAt = (what: string) => eventually(async () => expect(await focus()).toBe(what));
  const remove = async (name: string) => {
    await button(name).focus();
    await press('Enter');
    await isAt('button No');
    await press('Shift+Tab');
    await press('Enter');
  };

  it('is at the heading of each page that a link or the way back opens, also when the page loads late', async () => {
    const job = await app.api.submit({ name: 'train' });
    await app.api.startCluster({ name: 'dask' });
    await openAs(boss, '/clusters');
    await app.page.getByRole('link', { name: 'dask' }).waitFor();
    // A page that the browser opens begins at its top, before the link that skips the navigation.
    expect(await focus()).toBe('body');
    for (const [name, heading] of [
      ['Jobs', 'Jobs'],
      ['Schedules', 'Schedules'],
      ['Spend', 'Spend'],
      ['Approvals', 'Approvals'],
      ['Notifications', 'Notifications'],
      ['Workspace', 'Workspace default'],
      ['Clouds', 'Cloud accounts'],
    ] as const) {
      await app.page.getByRole('navigation').getByRole('link', { name }).focus();
      await press('Enter');
      await isAt(`h1 ${heading}`);
    }
    await app.page.goBack();
    await isAt('h1 Workspace default');
    await app.page.getByRole('link', { name: 'Jobs' }).focus();
    await press('Enter');
    await isAt('h1 Jobs');
    await app.page.getByRole('link', { name: 'train' }).focus();
    await press('Enter');
    await isAt('h1 train');
    // Its button is removed with the state in which it is possible.
    await remove('Cancel');
    const { view } = await app.api.deps.views.job('default', job);
    await app.api.workflows.endJob({ ...view, status: 'cancelled', endedAtMs: app.api.now() });
    await button('Cancel').waitFor({ state: 'detached' });
    await isAt('h1 train');
    await button('Sign out').focus();
    await press('Enter');
    await isAt('h1 Ropewalk');
    expect(complaints).toEqual([]);
  });

  it('is at the next row after the removal of a row, and at the heading after that of the last one', async () => {
    for (const name of ['one', 'three', 'two'])
      await app.api.call('PUT', `/v1/environments/${name}`, { token: boss, body: { container: 'image:1' } });
    await openAs(boss, '/workspace');
    await remove('Delete one');
    await button('Delete one').waitFor({ state: 'detached' });
    await isAt('button Delete three');
    await remove('Delete two');
    await button('Delete two').waitFor({ state: 'detached' });
    await isAt('h2 Software environments');
    await remove('Delete three');
    await app.page.getByText('No environment has a name').waitFor();
    await isAt('h2 Software environments');
    // While the request is under way, the focus stays with its button.
    await app.api.call('PUT', '/v1/environments/slow', { token: boss, body: { container: 'image:1' } });
    let answer = (): void => undefined;
    const answered = new Promise<void>((resolve) => (answer = resolve));
    await app.page.route('**/v1/environments/slow', async (route) => {
      await answered;
      await route.continue();
    });
    await remove('Delete slow');
    await isAt('button Delete slow');
    await press('Enter');
    expect(await button('Yes, delete').count()).toBe(0);
    answer();
    await app.page.getByText('No environment has a name').waitFor();
    await isAt('h2 Software environments');
    expect(complaints).toEqual([]);
  });
});
