// The page of the clouds: accounts of the admin's workspace, checks on request, hostile texts, and no data of another workspace.
import { describe, expect, it } from 'vitest';

import { RopewalkError } from '../../domain/errors.ts';
import { testCloud, testHost } from '../api/providers.ts';
import { createTestApi } from '../api/support.ts';
import { hasChromium } from './chromium.ts';
import { hostile, useWebApp } from './web-app.ts';

describe.runIf(hasChromium)('the page of the clouds', () => {
  let isBroken = true;
  const check = async (): Promise<string> => {
    if (!isBroken) return 'would launch';
    throw new RopewalkError({ code: 'VALIDATION', message: `refused ${hostile}`, hint: 'Run: ropewalk setup aws' });
  };
  const place = { region: 'us-east-1', queue: 'provider/aws/us-east-1' };
  const cloud = {
    ...testCloud({ places: [{ ...place, zones: ['us-east-1a', 'us-east-1b'], offers: async () => [] }] }),
    places: [place],
    accounts: [
      { workspace: null, account: 'account of the control plane', detail: 'no instance profile' },
      { workspace: 'default', account: 'arn:aws:iam::123456789012:role/ours', detail: hostile },
      { workspace: 'other', account: 'arn:aws:iam::999999999999:role/theirs', detail: 'theirs' },
    ],
    checks: [
      { name: 'aws launch us-east-1', run: check },
      { name: 'aws launch of other', workspace: 'other', run: async () => 'theirs too' },
    ],
  };
  const app = useWebApp(({ bundle }) => createTestApi({ web: bundle, providers: [cloud, testHost()] }));
  const { complaints, openAs, accessible } = app;

  it('an admin sees accounts, runs the checks, reads what mends them, and sees them mended', async () => {
    isBroken = true;
    await openAs(await app.api.addToken('default', ['read', 'write', 'admin'], 'boss', 'admin'), '/');
    await app.page.getByRole('link', { name: 'Clouds' }).click();
    const checks = app.page.getByRole('table', { name: 'Checks of AWS EC2' });
    await checks.getByText('unchecked').waitFor();
    await app.page.getByText('arn:aws:iam::123456789012:role/ours').waitFor();
    await app.page.getByText('us-east-1a, us-east-1b').waitFor();
    await app.page.getByRole('button', { name: 'Check aws now' }).click();
    await checks.getByText(`refused ${hostile}`).waitFor();
    await checks.getByText('Run: ropewalk setup aws').waitFor();
    await accessible('clouds');
    isBroken = false;
    await app.page.getByRole('button', { name: 'Check aws now' }).click();
    await checks.getByText('would launch').waitFor();
    // The last findings are still shown after a reload.
    await app.page.reload();
    await checks.getByText('would launch').waitFor();
    expect(await app.page.textContent('main')).not.toContain('theirs');
    expect(await app.page.locator('main img, main script').count()).toBe(0);
    expect([await app.page.title(), complaints]).toEqual(['Cloud accounts · Ropewalk', []]);
  });

  it('a member sees no link to it, and is refused', async () => {
    await openAs(await app.api.addToken('default', ['read', 'write'], 'bob', 'member'), '/clouds');
    await app.page.getByRole('alert').getByText('needs the scope admin').waitFor();
    expect(await app.page.getByRole('link', { name: 'Clouds' }).count()).toBe(0);
    expect(await app.page.textContent('main')).not.toContain('arn:');
  });
});
