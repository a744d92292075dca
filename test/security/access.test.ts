// Every served route with every kind of credential: a caller without the right learns nothing, changes nothing, and cannot
// distinguish an object of another user from a missing one.
import { describe, expect, it } from 'vitest';

import { scopesOf } from './scopes.ts';
import { openRoutes, ownWhateverTheName } from './exceptions.ts';
import { agentRoutes, foreignSubject, pathWith, peopleRoutes, randomSubject } from './routes.ts';
import { createFixture, secretContent, secretName, type Fixture } from './fixture.ts';

const split = (route: string): [method: string, path: string] => {
  const [method = '', path = ''] = route.split(' ');
  return [method, path];
};

async function ask(
  fixture: Fixture,
  route: string,
  options: { token: string | null; path?: string | undefined; body?: unknown },
) {
  const [method, pattern] = split(route);
  const { token, path = pattern, body } = options;
  const headers = { 'x-request-id': 'one-id' };
  const response = await fixture.api.call(method, path, { token, headers, ...(body === undefined ? {} : { body }) });
  return { status: response.status, text: await response.text() };
}

let untouched: Promise<Fixture> | null = null;
let untouchedPrivate: Promise<Fixture> | null = null;
/** Shared by all requests that must change nothing, which each of them proves: creating a fixture takes a tenth of a second. */
const untouchedFixture = (): Promise<Fixture> => (untouched ??= createFixture());
/** A user's read changes nothing. */
const fixtureOf = (route: string): Promise<Fixture> => (isRead(route) ? untouchedFixture() : createFixture());
const privateFixtureOf = (route: string): Promise<Fixture> =>
  isRead(route) ? (untouchedPrivate ??= createFixture({ isPrivate: true })) : createFixture({ isPrivate: true });
const isRead = (route: string): boolean => route.startsWith('GET ');

/** The request must leave everything unchanged. */
async function expectDenied(fixture: Fixture, statuses: number[], call: () => ReturnType<typeof ask>) {
  return expectUnchanged(fixture, () => expectRefusal(statuses, call));
}

async function expectUnchanged<T>(fixture: Fixture, work: () => Promise<T>): Promise<T> {
  const before = await fixture.state();
  const answer = await work();
  expect(await fixture.state()).toBe(before);
  return answer;
}

async function expectRefusal(statuses: number[], call: () => ReturnType<typeof ask>) {
  const answer = await call();
  expect(statuses).toContain(answer.status);
  expect(JSON.parse(answer.text).error.requestId).toBe('one-id');
  expect(answer.text).not.toContain(secretName);
  return answer;
}

const pathOf = (fixture: Fixture, route: string) => {
  const { subject } = peopleRoutes[route] ?? {};
  const [, path] = split(route);
  return subject === undefined ? path : pathWith(path, foreignSubject(fixture, subject));
};

const noTokens = ({ people }: Fixture): [what: string, token: string | null][] => [
  ['none', null],
  ['empty', ''],
  ['malformed', 'swordfish'],
  ['half', people.admin.slice(0, -10)],
  ['another secret', `${people.admin.slice(0, -2)}AA`],
  ['two', `${people.admin} ${people.admin}`],
  ['an unknown workspace', people.admin.replace('_default_', '_nowhere_')],
  ['expired', people.expired],
  ['revoked', people.revoked],
];

describe('the list of routes', () => {
  it('is complete: each route is listed with the scope it needs, or is open with a reason', async () => {
    const { api } = await createFixture();
    const document = await (await api.call('GET', '/v1/openapi.json', { token: null })).json();
    const described = Object.entries<object>(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const mounted = api.app.routes
      .filter(({ method }) => method !== 'ALL')
      .map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`);
    const known = [...Object.keys(peopleRoutes), ...Object.keys(agentRoutes), ...Object.keys(openRoutes)];
    expect([...new Set([...described, ...mounted])].toSorted()).toEqual(known.toSorted());
  });
});

describe.each(Object.keys(peopleRoutes))('%s', (route) => {
  const { needs = 'read', subject, body, ok } = peopleRoutes[route] ?? {};

  it('refuses every request without a valid token', async () => {
    const fixture = await untouchedFixture();
    const { agents } = fixture;
    const ofOthers = Object.entries(agents);
    await expectUnchanged(fixture, async () => {
      for (const [, token] of [...noTokens(fixture), ...ofOthers]) {
        await expectRefusal([401], () => ask(fixture, route, { token, path: pathOf(fixture, route), body }));
      }
    });
  });

  it(`needs the scope ${needs}`, async () => {
    for (const who of ['readOnly', 'member'] as const) {
      const fixture = await (scopesOf(who).includes(needs) ? fixtureOf(route) : untouchedFixture());
      const call = () => ask(fixture, route, { token: fixture.people[who], path: pathOf(fixture, route), body });
      if (scopesOf(who).includes(needs)) expect([401, 403]).not.toContain((await call()).status);
      else if (subject === undefined) await expectDenied(fixture, [403], call);
      else await expectDenied(fixture, [403, 404], call);
    }
  });

  it('does not look beyond the workspace of its token', async () => {
    const isOfOthers = subject !== undefined && !ownWhateverTheName.includes(route);
    const fixture = await (isOfOthers ? untouchedFixture() : fixtureOf(route));
    const token = fixture.people.foreign;
    const [, path] = split(route);
    const before = await fixture.ofDefault();
    const answer = await ask(fixture, route, { token, path: pathOf(fixture, route), body });
    if (isOfOthers) {
      const foreignId = foreignSubject(fixture, subject);
      const foreign = await expectDenied(fixture, [404], () =>
        ask(fixture, route, { token, path: pathOf(fixture, route), body }),
      );
      const randomId = randomSubject(subject);
      const random = await expectDenied(fixture, [404], () =>
        ask(fixture, route, { token, path: pathWith(path, randomId), body }),
      );
      const unnamed = (text: string, id: string) => text.replaceAll(new RegExp(`\\b${id}\\b`, 'g'), 'ID');
      expect(unnamed(foreign.text, foreignId)).toBe(unnamed(random.text, randomId));
    } else if (needs === 'operator') expect(answer.status).toBe(403);
    expect(answer.text).not.toContain(secretName);
    if (!ownWhateverTheName.includes(route)) expect(answer.text).not.toMatch(/"(root|mia|rob|ada)"/);
    expect(await fixture.ofDefault()).toBe(before);
  });

  it('works with a token of sufficient scope', async () => {
    const fixture = await fixtureOf(route);
    const { status } = await ask(fixture, route, { token: fixture.people.admin, path: pathOf(fixture, route), body });
    expect(status).toBe(ok);
  });
});

describe('what is private to its creator', () => {
  const subjects = Object.entries(peopleRoutes).filter(([, { subject = '' }]) => ['job', 'cluster'].includes(subject));

  it('has a rule for each of its routes', () => {
    for (const [route, { ofPrivate }] of subjects) expect([route, ofPrivate]).not.toEqual([route, undefined]);
  });

  const rules = Object.entries(peopleRoutes).filter(([, { ofPrivate }]) => ofPrivate !== undefined);
  it.each(rules)('is kept from the others of its workspace: %s', async (route, { ofPrivate, body, ok }) => {
    for (const who of ['member', 'otherAdmin', 'admin'] as const) {
      const fixture = await privateFixtureOf(route);
      // A job's cluster is as private as its job.
      const numbers = pathOf(fixture, route).includes('/clusters/') ? [fixture.cluster, fixture.job] : [fixture.job];
      for (const number of numbers) {
        const path = pathWith(split(route)[1], String(number));
        const before = await fixture.ofDefault();
        const { status, text } = await ask(fixture, route, { token: fixture.people[who], path, body });
        // Its creator sees the existing object; otherwise this test proves nothing.
        if (who === 'admin') {
          if (status === ok && contentRoutes.test(route)) expect(text).toContain(secretContent);
          continue;
        }
        expect(text).not.toContain(secretContent);
        expect(text).not.toMatch(/127\.0\.0\.1|i_/);
        const mayEnd = ofPrivate === 'end' && who === 'otherAdmin';
        // No user may send such a request to a job's cluster.
        if (ofPrivate === 'outside') expect(status).toBe(200);
        else expect(mayEnd ? [ok] : [403, 409]).toContain(status);
        if (ofPrivate === 'outside') expect(text).toContain('"withheld":true');
        if (!mayEnd) expect(await fixture.ofDefault()).toBe(before);
      }
    }
  });
});

/** Routes whose answers reveal the object's work. */
const contentRoutes = /^GET .*(jobs|clusters|\{number\}|events|logs)$/;

describe.each(Object.keys(agentRoutes))('%s', (route) => {
  const { token: own = 'task', path, body, ok } = agentRoutes[route] ?? {};

  it('refuses every request without a token of its kind', async () => {
    const fixture = await untouchedFixture();
    const { people, agents } = fixture;
    const wrongKinds = own === 'launch' ? [agents.task, agents.dask] : [agents.launch];
    const others = [...wrongKinds, agents.dashboard, agents.session, ...Object.values(people)];
    await expectUnchanged(fixture, async () => {
      for (const token of [...noTokens(fixture).map(([, each]) => each), ...others]) {
        await expectRefusal([401], () => ask(fixture, route, { token, path: path?.(fixture), body: body?.(fixture) }));
      }
    });
  });

  it('answers for the instance of its token alone', async () => {
    const fixture = await createFixture();
    const { agents } = fixture;
    const foreign = own === 'launch' ? agents.otherWorkspaceLaunch : agents.otherWorkspace;
    const nowhere = own === 'launch' ? agents.nowhereLaunch : agents.otherCluster;
    // An agent whose cluster does not exist gets an order to stop, which is an answer.
    const stopping = ['POST /v1/agent/report', 'POST /v1/agent/exchange', 'GET /v1/agent/orders'];
    const before = await fixture.ofDefault();
    // Another workspace's agent that claims to be this workspace's instance reaches only its own cluster.
    const theirs = await ask(fixture, route, { token: foreign, path: path?.(fixture), body: body?.(fixture) });
    const { status, text } = await ask(fixture, route, {
      token: nowhere,
      path: path?.(fixture),
      body: body?.(fixture),
    });
    if (status === 200) {
      expect(stopping).toContain(route);
      expect(JSON.parse(text)).toMatchObject({ stop: { code: expect.any(String) } });
    } else expect([403, 404]).toContain(status);
    expect(`${theirs.text} ${text}`).not.toContain(secretName);
    expect(await fixture.ofDefault()).toBe(before);
  });

  it('works with its own token', async () => {
    const fixture = await createFixture();
    const { status } = await ask(fixture, route, {
      token: fixture.agents[own],
      path: path?.(fixture),
      body: body?.(fixture),
    });
    expect(status).toBe(ok);
  });
});

describe('methods that a path does not have', () => {
  it('do nothing, with any token', async () => {
    const fixture = await createFixture();
    const routes = [...Object.keys(peopleRoutes), ...Object.keys(agentRoutes), ...Object.keys(openRoutes)];
    const paths = [...new Set(routes.map((route) => split(route)[1]))];
    const before = await fixture.state();
    for (const path of paths) {
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE-ISH', 'QUERY']) {
        if (routes.includes(`${method} ${path}`)) continue;
        const subject = path.includes('{sha256}') ? fixture.packageFile : 'mia';
        const real = pathWith(path, path.includes('{number}') ? String(fixture.job) : subject);
        for (const token of [null, fixture.people.admin, fixture.agents.task]) {
          const { status } = await ask(fixture, `${method} ${path}`, { token, path: real });
          expect([401, 405]).toContain(status);
        }
      }
    }
    expect(await fixture.state()).toBe(before);
  });
});
