// An admin's changes in the web application: users, tokens, budgets, limits, webhooks, environments, the rule of approvals.
import { describe, expect, it } from 'vitest';

import { cloudApi } from '../api/cloud.ts';
import { eventually } from '../support/eventually.ts';
import { hasChromium } from './chromium.ts';
import { hostile, useWebApp } from './web-app.ts';

describe.runIf(hasChromium)('what an admin changes', () => {
  let boss: string;
  const app = useWebApp(async ({ bundle }) => {
    const api = await cloudApi('aws', { web: bundle });
    boss = await api.addToken('default', ['read', 'write', 'admin'], 'boss', 'admin');
    return api;
  });
  const { complaints, openAs, accessible } = app;
  const button = (name: string | RegExp) => app.page.getByRole('button', { name });
  const row = (text: string) => app.page.getByRole('row').filter({ hasText: text });
  const form = (name: string) => app.page.getByRole('form', { name });
  const read = async (path: string, token = boss) => (await app.api.call('GET', path, { token })).json();

  it('adds a person with a token that is shown once and works, changes role and limits, and removes the person', async () => {
    await openAs(boss, '/workspace');
    await button('Add a person').click();
    const add = form('Add a person');
    await add.getByLabel('Name, or the e-mail').fill('ann@example.com');
    await add.getByLabel('Role').selectOption('read-only');
    await add.getByLabel('Make a token for them').check();
    await accessible('person-new');
    await add.getByRole('button', { name: 'Add' }).click();
    const secret = app.page.getByLabel('The token of ann@example.com.');
    await secret.waitFor();
    const token = await secret.inputValue();
    expect(await read('/v1/whoami', token)).toMatchObject({ user: 'ann@example.com', role: 'read-only' });
    await accessible('person-token');
    await button('I have it').click();
    await secret.waitFor({ state: 'detached' });
    expect(await app.page.content()).not.toContain(token);

    await button('Change ann@example.com').click();
    const change = form('Change ann@example.com');
    await change.getByLabel('Role').selectOption('member');
    await change.getByLabel('At most: vCPUs').fill('64');
    await change.getByRole('button', { name: 'Save' }).click();
    await row('ann@example.com').getByText('0 of 64').waitFor();
    expect(await read('/v1/whoami', token)).toMatchObject({ role: 'member' });
    await button('Change ann@example.com').click();
    await change.getByLabel('At most: vCPUs').fill('');
    await change.getByLabel('At most: Instances').fill('7');
    // The role that the form shows may have changed elsewhere since: only a changed role is sent.
    await app.api.call('PUT', '/v1/users/ann@example.com', { token: boss, body: { role: 'read-only' } });
    await change.getByRole('button', { name: 'Save' }).click();
    await row('ann@example.com').getByText('0 of 7').waitFor();
    const ann = (await read('/v1/users')).items.find(({ name }: { name: string }) => name === 'ann@example.com');
    expect(ann).toMatchObject({ role: 'read-only', limits: { instances: 7 } });
    expect(ann.limits).not.toHaveProperty('vcpus');

    await button('Remove ann@example.com').click();
    await button('Yes, remove').click();
    await eventually(async () => (await button('Remove ann@example.com').count()) === 0);
    expect((await app.api.call('GET', '/v1/whoami', { token })).status).toBe(401);
    await row('USER_REMOVED').first().waitFor();
    expect(complaints).toEqual([]);
  });

  it('does not change a person who is there already, and says why the last admin stays', async () => {
    await openAs(boss, '/workspace');
    await button('Add a person').click();
    const add = form('Add a person');
    await add.getByLabel('Name, or the e-mail').fill('ada');
    await add.getByRole('button', { name: 'Add' }).click();
    await add.getByRole('alert').getByText('ada is here already').waitFor();
    await add.getByLabel('Name, or the e-mail').fill(hostile);
    await add.getByRole('button', { name: 'Add' }).click();
    await add.getByRole('alert').getByText('letters, digits').waitFor();
    await add.getByRole('button', { name: 'Close' }).click();
    await button('Remove ada').click();
    await button('Yes, remove').click();
    await eventually(async () => (await button('Remove ada').count()) === 0);
    await button('Remove boss').click();
    await button('Yes, remove').click();
    await row('boss').first().getByRole('alert').waitFor();
    expect(await app.page.locator('main img, main script').count()).toBe(0);
    expect(complaints.filter((text) => !/status of (409|422)/.test(text))).toEqual([]);
  });

  it('makes a token and revokes it; expired ones are named so, and its own ends the page', async () => {
    await app.api.addToken('default', ['read'], 'boss', 'admin', app.api.now() - 1_000);
    await openAs(boss, '/workspace');
    await button('Make a token').click();
    const make = form('Make a token');
    await make.getByLabel('What it is for').fill(hostile);
    await make.getByLabel('write').uncheck();
    await make.getByLabel('Expires after').selectOption('7 days');
    await accessible('token-new');
    await make.getByRole('button', { name: 'Make' }).click();
    const secret = app.page.getByLabel('The new token of boss.');
    await secret.waitFor();
    const token = await secret.inputValue();
    expect(await read('/v1/whoami', token)).toMatchObject({ user: 'boss', scopes: ['read'] });
    await button('I have it').click();
    await row(hostile).getByRole('button', { name: 'Revoke' }).click();
    await button('Yes, revoke').click();
    await row(hostile).waitFor({ state: 'detached' });
    expect((await app.api.call('GET', '/v1/whoami', { token })).status).toBe(401);
    await app.page.getByLabel('also 2 that were revoked or have expired').check();
    await app.page.getByText('expired', { exact: true }).waitFor();
    await app.page.getByText('revoked', { exact: true }).waitFor();
    await row('of this page').getByRole('button', { name: 'Revoke' }).click();
    await button('Yes, revoke').click();
    await app.page.getByText('Your sign-in has ended').waitFor();
    expect(complaints.filter((text) => !text.includes('status of 401'))).toEqual([]);
  });

  it('keeps an open question with its row when another row appears above it', async () => {
    const put = (name: string) =>
      app.api.call('PUT', `/v1/environments/${name}`, { token: boss, body: { container: 'image:1' } });
    await put('small');
    await openAs(boss, '/workspace');
    await button('Delete small').click();
    await put('huge');
    await button('Delete huge').waitFor();
    await button('Yes, delete').click();
    await eventually(async () => (await button('Delete small').count()) === 0);
    const { items } = await read('/v1/environments');
    expect(items.map(({ name }: { name: string }) => name)).toEqual(['huge']);
    await app.api.call('DELETE', '/v1/environments/huge', { token: boss });
    expect(complaints).toEqual([]);
  });

  it('makes, changes and removes a budget on the page of spend, and keeps what is typed while the page reads', async () => {
    const number = await app.api.startCluster({ name: 'big' }, { token: boss });
    await openAs(boss, '/spend');
    await app.page.getByText('there is no budget').waitFor();
    await button('Make a budget').click();
    const make = form('Make a budget');
    await make.getByLabel('Name').fill('team');
    await make.getByLabel('Dollars').fill('12.5');
    await make.getByRole('combobox', { name: 'Per', exact: true }).selectOption('day');
    await make.getByRole('combobox', { name: 'Of', exact: true }).selectOption('cluster');
    await make.getByLabel('Number of the cluster').fill('999');
    await make.getByLabel('When it is used up').selectOption('stop');
    await accessible('budget-new');
    // The page reloads the list of budgets every few seconds.
    await app.page.waitForResponse((answer) => answer.url().endsWith('/v1/budgets'));
    expect(await make.getByLabel('Dollars').inputValue()).toBe('12.5');
    await make.getByRole('button', { name: 'Make' }).click();
    await make.getByRole('alert').waitFor();
    await make.getByLabel('Number of the cluster').fill(String(number));
    await make.getByRole('button', { name: 'Make' }).click();
    await row('team').getByText(`cluster ${number}`).waitFor();
    expect((await read('/v1/budgets')).items).toMatchObject([
      { name: 'team', dollars: 12.5, period: 'day', cluster: number, action: 'stop', warnAtPercent: 80 },
    ]);
    await button('Change team').click();
    const change = form('Change team');
    expect(await change.getByLabel('Number of the cluster').inputValue()).toBe(String(number));
    await change.getByRole('combobox', { name: 'Of', exact: true }).selectOption('user');
    await change.getByRole('textbox', { name: 'User' }).fill('boss');
    await change.getByLabel('Dollars').fill('40');
    await change.getByRole('button', { name: 'Save' }).click();
    await row('team').getByText('user boss').waitFor();
    await accessible('budgets');
    await button('Remove team').click();
    await button('Yes, remove').click();
    await app.page.getByText('there is no budget').waitFor();
    expect(complaints.filter((text) => !/status of (404|422)/.test(text))).toEqual([]);
  });

  it('makes a webhook whose secret is shown once, tests it, shows its deliveries, and deletes it', async () => {
    await openAs(boss, '/workspace');
    await button('Make a webhook').click();
    const make = form('Make a webhook');
    await make.getByLabel('URL').fill('http://127.0.0.1/hooks');
    await make.getByLabel('Description').fill(hostile);
    await make.getByLabel('budgets').check();
    await make.getByRole('button', { name: 'Make' }).click();
    await make.getByRole('alert').getByText('a webhook needs an HTTPS URL').waitFor();
    await make.getByLabel('URL').fill('https://hooks.example/secret-path');
    await make.getByRole('button', { name: 'Make' }).click();
    await app.page.getByLabel('The secret of the webhook to https://hooks.example').waitFor();
    await accessible('webhook-made');
    await button('I have it').click();
    await row('budget.*').getByText(hostile).waitFor();
    await button('Test https://hooks.example').click();
    await button('Yes, test').click();
    await app.page.getByRole('table', { name: 'Newest deliveries' }).getByText('webhook.test').waitFor();
    await accessible('webhook-deliveries');
    await button('Delete https://hooks.example').click();
    await button('Yes, delete').click();
    await app.page.getByText('No receiver is notified').waitFor();
    expect(await app.page.locator('main img, main script').count()).toBe(0);
    expect(complaints.filter((text) => !/status of 422/.test(text))).toEqual([]);
  });

  it('names an environment and deletes the name; limits and the rule of approvals are changed', async () => {
    await openAs(boss, '/workspace');
    await button('Name an environment').click();
    const name = form('Name an environment');
    await name.getByLabel('Name', { exact: true }).fill('weather');
    await name.getByLabel('Packages').fill('dask\n\nxarray');
    await name.getByRole('button', { name: 'Save' }).click();
    await app.page.getByRole('cell', { name: '2 requirements', exact: true }).waitFor();
    await button('Delete weather').click();
    await button('Yes, delete').click();
    await app.page.getByText('No environment has a name').waitFor();
    await button('Change the limits').click();
    const limits = form('Limits of the workspace');
    await limits.getByLabel('At most: Instances').fill('55');
    await limits.getByLabel('At most: vCPUs').fill('');
    await limits.getByRole('button', { name: 'Save' }).click();
    expect(await limits.getByLabel('At most: vCPUs').evaluate((field) => field.matches(':invalid'))).toBe(true);
    await limits.getByLabel('At most: vCPUs').fill('500');
    await limits.getByRole('button', { name: 'Save' }).click();
    await app.page.getByText('0 of 55').waitFor();
    await app.page.getByRole('link', { name: 'Approvals' }).click();
    await button('Change the rule').click();
    const rule = form('What needs an approval');
    await rule.getByLabel('dollars an hour').fill('2.5');
    await rule.getByLabel('Ends after').fill('90');
    await accessible('approval-rule');
    await rule.getByRole('button', { name: 'Save' }).click();
    await app.page.getByText('$2.50').waitFor();
    await app.page.getByText('1.5 h').waitFor();
    expect(await read('/v1/workspace/approval')).toMatchObject({ timeoutSeconds: 5_400 });
    await button('Change the rule').click();
    expect(await rule.getByLabel('Ends after').inputValue()).toBe('90');
    await rule.getByRole('button', { name: 'Save' }).click();
    await rule.waitFor({ state: 'detached' });
    expect(await read('/v1/workspace/approval')).toMatchObject({ timeoutSeconds: 5_400 });
    expect(complaints).toEqual([]);
  });

  it('works by the keyboard alone: the focus enters the form, leaves it by Escape, and goes back to its button', async () => {
    await openAs(boss, '/workspace');
    await button('Add a person').focus();
    const focused = () => app.page.evaluate(() => document.activeElement?.textContent ?? '');
    await app.page.keyboard.press('Enter');
    await form('Add a person').waitFor();
    await app.page.keyboard.type('keyboard');
    await app.page.keyboard.press('Escape');
    await eventually(async () => (await focused()) === 'Add a person');
    await app.page.keyboard.press('Enter');
    const field = form('Add a person').getByLabel('Name, or the e-mail');
    await eventually(() => field.evaluate((each) => each === document.activeElement));
    await app.page.keyboard.type('keyboard');
    await app.page.keyboard.press('Enter');
    await row('keyboard').first().waitFor();
    await eventually(async () => (await focused()) === 'Add a person');
  });

  it('of a private cluster or job the page shows and offers others only what they may see and do', async () => {
    const [cluster, job] = [
      await app.api.startCluster({ privateToCreator: true }),
      await app.api.submit({ privateToCreator: true }),
    ];
    const member = await app.api.addToken('default', ['read', 'write'], 'bob', 'member');
    for (const [path, end] of [
      [`/clusters/${cluster}`, 'Stop'],
      [`/jobs/${job}`, 'Cancel'],
    ] as const) {
      await openAs(member, path);
      await app.page.getByText('only its creator sees the rest').waitFor();
      expect(await app.page.locator('main button').allTextContents()).toEqual([]);
      expect(await app.page.getByText('No instance exists now').count()).toBe(0);
      expect(await app.page.getByLabel('Command', { exact: true }).count()).toBe(0);
      await openAs(boss, path);
      await app.page.getByText('only its creator sees the rest').waitFor();
      expect(await app.page.locator('main button').allTextContents()).toEqual([end]);
    }
  });

  it('a member changes no people, budgets and webhooks; a reader has tokens of their own alone', async () => {
    await app.api.call('PUT', '/v1/budgets/ml', { token: boss, body: { dollars: 500 } });
    await app.api.call('POST', '/v1/webhooks', { token: boss, body: { url: 'https://hooks.example/ours' } });
    await app.api.call('PUT', '/v1/environments/weather', { token: boss, body: { container: 'weather:1' } });
    const seen = async (token: string): Promise<string[]> => {
      const found: string[] = [];
      for (const [path, text] of [
        ['/workspace', 'hooks.example'],
        ['/spend', 'ml'],
        ['/approvals', 'Needs an approval'],
      ] as const) {
        await openAs(token, path);
        await app.page.getByText(text).first().waitFor();
        found.push(...(await app.page.locator('main button').allTextContents()));
      }
      return [...new Set(found)].toSorted();
    };
    const reader = await app.api.addToken('default', ['read'], 'reader', 'read-only');
    expect(await seen(reader)).toEqual(['Deliveries', 'Make a token', 'Revoke']);
    const member = await app.api.addToken('default', ['read', 'write'], 'bob', 'member');
    expect(await seen(member)).toEqual(['Delete', 'Deliveries', 'Make a token', 'Name an environment', 'Revoke']);
    await openAs(reader, '/workspace');
    await button('Make a token').click();
    expect(await form('Make a token').getByRole('checkbox').count()).toBe(1);
    expect(await form('Make a token').getByRole('combobox', { name: 'Of', exact: true }).count()).toBe(0);
  });
});
