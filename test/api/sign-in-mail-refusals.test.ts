// The refusals of a sign-in by a link in an e-mail, with a real SMTP server.
import { describe, expect, it } from 'vitest';

import {
  maxMailLinksFromPlace,
  maxMailLinksOfAddress,
  maxMailLinksOfAddressFromPlace,
} from '../../domain/people/limits.ts';
import { createMailer } from '../../platform/mail/smtp.ts';
import { addUser, admin, sessionOf, signIn, useOidc } from './sign-in-support.ts';
import { address, confirm, linkIn, openMailApi, requestLink, signInByMail, tokenOf } from './sign-in-mail-support.ts';

const oidc = useOidc();
const refusalOf = async (response: Response): Promise<[number, string]> => [response.status, await response.text()];
const ended = [410, expect.stringContaining('no longer valid')];
const elsewhere = [401, expect.stringContaining('requested in another browser')];

describe('a link', () => {
  it('works once, also when it is confirmed several times at once', async () => {
    using opened = await openMailApi();
    const { api, received } = opened;
    const requested = await requestLink(api);
    const link = linkIn(received).href;
    const confirmed = await Promise.all([1, 2, 3, 4].map(() => confirm(api, link, requested)));
    const statuses = confirmed.map(({ status }) => status);
    expect(statuses.toSorted((a, b) => a - b)).toEqual([303, 410, 410, 410]);
    expect(await refusalOf(await confirm(api, link, requested))).toEqual(ended);
  });

  it('works for 15 minutes', async () => {
    using opened = await openMailApi();
    const { api, received } = opened;
    const [first, second] = [await requestLink(api), linkIn(received).href];
    api.clock.offsetMs += 14 * 60_000;
    expect((await confirm(api, second, first)).status).toBe(303);
    const late = await requestLink(api);
    api.clock.offsetMs += 15 * 60_000;
    expect(await refusalOf(await confirm(api, linkIn(received).href, late))).toEqual(elsewhere);
  });

  it('ends with the request for a newer one, from any browser', async () => {
    using opened = await openMailApi();
    const { api, received } = opened;
    const older = await requestLink(api);
    const newer = await requestLink(api, address, '203.0.113.9');
    expect(await refusalOf(await confirm(api, linkIn(received, 0).href, older))).toEqual(ended);
    expect((await confirm(api, linkIn(received, 1).href, newer)).status).toBe(303);
  });

  it('works in no browser but the one that requested it, and is not used up there', async () => {
    using opened = await openMailApi();
    const { api, received } = opened;
    await addUser(api, 'eve@example.com');
    const hers = await requestLink(api, 'eve@example.com', '203.0.113.9');
    const requested = await requestLink(api);
    const link = linkIn(received).href;
    for (const cookie of ['', 'ropewalk_mail=made-up', hers.cookie]) {
      expect(await refusalOf(await confirm(api, link, { cookie }))).toEqual(elsewhere);
    }
    // Nor does anyone sign in another person's browser.
    expect(await refusalOf(await confirm(api, linkIn(received, 0).href, requested))).toEqual(elsewhere);
    expect((await confirm(api, link, requested)).status).toBe(303);
  });

  it.each(['', '#', 'a'.repeat(31), 'a'.repeat(32), `${'a'.repeat(33)}`, 'https://example.com/', '\u0000'.repeat(32)])(
    'is not %j',
    async (link) => {
      using opened = await openMailApi();
      expect(await refusalOf(await confirm(opened.api, link, await requestLink(opened.api)))).toEqual(ended);
    },
  );

  it('is taken from our own page only', async () => {
    using opened = await openMailApi();
    const { api, received } = opened;
    const requested = await requestLink(api);
    const foreign = await confirm(api, linkIn(received).href, { ...requested, from: 'https://evil.example' });
    expect(await refusalOf(foreign)).toEqual([403, expect.stringContaining('came from elsewhere')]);
    const body = new URLSearchParams({ address }).toString();
    const headers = { origin: 'https://evil.example', 'content-type': 'application/x-www-form-urlencoded' };
    expect((await api.app.request('/login/mail', { method: 'POST', headers, body })).status).toBe(403);
    await api.deps.linkMails.settled();
    expect(received).toHaveLength(1);
  });
});

describe('the user of an address', () => {
  it('who is removed signs in with no earlier link, also when they are added again', async () => {
    using opened = await openMailApi();
    const { api, received } = opened;
    const requested = await requestLink(api);
    const path = `/v1/users/${address}`;
    expect((await api.call('DELETE', path, { token: await admin(api) })).status).toBe(200);
    expect(await refusalOf(await confirm(api, linkIn(received).href, requested))).toEqual(ended);
    await requestLink(api);
    expect(received).toHaveLength(1);
    await addUser(api, address);
    expect(await refusalOf(await confirm(api, linkIn(received).href, requested))).toEqual(ended);
    expect((await signInByMail(api, received)).user).toBe(address);
  });

  it('signs in at the identity provider only, once an account there is tied to the user', async () => {
    const { deps } = await oidc.createApi();
    if (deps.signIn === null) throw new Error('no provider');
    using opened = await openMailApi({ signIn: deps.signIn });
    const { api, received } = opened;
    expect((await signInByMail(api, received)).user).toBe(address);
    const requested = await requestLink(api);
    await sessionOf(api, await signIn(api));
    expect(await refusalOf(await confirm(api, linkIn(received).href, requested))).toEqual(ended);
    await requestLink(api);
    expect(received).toHaveLength(2);
  });

  it('is of the domains that the operator permits', async () => {
    const { deps } = await oidc.createApi({ domains: ['other.example'] });
    if (deps.signIn === null) throw new Error('no provider');
    using opened = await openMailApi({ signIn: deps.signIn });
    expect((await requestLink(opened.api)).response.status).toBe(202);
    expect(opened.received).toEqual([]);
  });
});

describe('a request for a link', () => {
  it('has the same answer for the address of a user and of a stranger', async () => {
    using opened = await openMailApi();
    const { api, received } = opened;
    const answers = [];
    for (const typed of [address, 'bob@example.com']) {
      const { response } = await requestLink(api, typed);
      const headers = [...response.headers]
        .filter(([name]) => name !== 'x-request-id')
        .map(([name, value]) => [name, name === 'set-cookie' ? value.replace(/=[^;]+/, '') : value]);
      answers.push([response.status, headers, await response.json(), response.headers.get('set-cookie')?.length]);
    }
    expect(answers[1]).toEqual(answers[0]);
    expect(received).toHaveLength(1);
  });

  it('is answered before the database and the mail server are asked, and without them', async () => {
    const mailer = createMailer({ url: 'smtp://127.0.0.1:9', from: 'ropewalk@control.example' });
    using opened = await openMailApi({ mailer });
    const { api } = opened;
    // The admin's requests name users.
    api.logged.length = 0;
    api.database.isUnavailable = true;
    expect((await requestLink(api)).response.status).toBe(202);
    expect(api.logged.join()).toContain('could not be sent');
    api.database.isUnavailable = false;
    expect((await requestLink(api)).response.status).toBe(202);
    const log = api.logged.join();
    expect(log).toContain('the mail server: ESOCKET');
    expect(log).not.toContain(address);
  });

  it.each([
    'ann',
    'ann@localhost',
    'ann@example.com\r\nBcc: eve@example.com',
    'ann@example.com,eve@example.com',
    'Ann <ann@example.com>',
    'ann@example.com@evil.example',
    'a nn@example.com',
    '\u212Aen@example.com',
    `${'a'.repeat(65)}@example.com`,
    '',
  ])('for %j is refused', async (typed) => {
    using opened = await openMailApi();
    const { response } = await requestLink(opened.api, typed);
    expect([response.status, (await response.json()).error]).toMatchObject([
      422,
      { code: 'VALIDATION', field: 'address' },
    ]);
    expect(opened.received).toEqual([]);
  });

  it('is refused after too many from one place, for one address and for all, of users and strangers alike', async () => {
    using opened = await openMailApi();
    const { api, received } = opened;
    const stranger = 'bob@example.com';
    for (let nth = 0; nth < maxMailLinksOfAddressFromPlace; nth += 1) {
      for (const typed of [address, stranger]) expect((await requestLink(api, typed)).response.status).toBe(202);
    }
    for (const typed of [address, stranger]) expect((await requestLink(api, typed)).response.status).toBe(429);
    expect(received).toHaveLength(maxMailLinksOfAddressFromPlace);
    const others = Array.from({ length: maxMailLinksFromPlace }, (_, nth) => `p${nth}@example.com`);
    const statuses = [];
    for (const typed of others) statuses.push((await requestLink(api, typed)).response.status);
    expect(new Set(statuses)).toEqual(new Set([202, 429]));
    const refused = (await requestLink(api)).response;
    expect([refused.status, Number(refused.headers.get('retry-after')) > 3_000]).toEqual([429, true]);
    // Another place is not affected.
    expect((await requestLink(api, address, '203.0.113.9')).response.status).toBe(202);
    api.clock.offsetMs += 3_600_000;
    expect((await requestLink(api)).response.status).toBe(202);
  });

  it('beyond the maximum of its address in an hour has the same answer, sends nothing, and leaves the last link', async () => {
    using opened = await openMailApi();
    const { api, received } = opened;
    // From the start of an hour of the clock.
    api.clock.offsetMs += 3_600_000 - (api.now() % 3_600_000);
    let last = await requestLink(api, address, '203.0.113.1');
    for (let nth = 2; nth <= maxMailLinksOfAddress; nth += 1)
      last = await requestLink(api, address, `203.0.113.${nth}`);
    expect(received).toHaveLength(maxMailLinksOfAddress);
    expect((await requestLink(api, address, '203.0.113.99')).response.status).toBe(202);
    expect(received).toHaveLength(maxMailLinksOfAddress);
    const confirmed = await confirm(api, linkIn(received).href, last);
    expect((await tokenOf(api, confirmed, last.verifier)).status).toBe(200);
    api.clock.offsetMs += 3_600_000;
    await requestLink(api);
    expect(received).toHaveLength(maxMailLinksOfAddress + 1);
  });
});
