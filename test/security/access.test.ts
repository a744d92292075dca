// Every route with every kind of credential, from the routes that are really served: who may not is told nothing, changes
// nothing, and cannot tell what is somebody else's from what is not there.
import { describe, expect, it } from 'vitest';

import { scopesOf } from './scopes.ts';
import { openToAnybody, ownWhateverTheName } from './exceptions.ts';
import { agentRoutes, foreignSubject, pathWith, peopleRoutes, randomSubject } from './routes.ts';
import { createWorld, secretContent, secretName, type World } from './world.ts';

const split = (route: string): [method: string, path: string] => {
  const [method = '', path = ''] = route.split(' ');
  return [method, path];
};

async function ask(
  world: World,
  route: string,
  options: { token: string | null; path?: string | undefined; body?: unknown },
) {
  const [method, pattern] = split(route);
  const { token, path = pattern, body } = options;
  const headers = { 'x-request-id': 'one-id' };
  const response = await world.api.call(method, path, { token, headers, ...(body === undefined ? {} : { body }) });
  return { status: response.status, text: await response.text() };
}

let untouched: Promise<World> | null = null;
/** Shared by all requests that must change nothing, which each of them shows: a world takes a tenth of a second to make. */
const untouchedWorld = (): Promise<World> => (untouched ??= createWorld());

/** What is asked must leave everything as it was. */
async function expectDenied(world: World, statuses: number[], call: () => ReturnType<typeof ask>) {
  return expectUnchanged(world, () => expectRefusal(statuses, call));
}

async function expectUnchanged<T>(world: World, work: () => Promise<T>): Promise<T> {
  const before = await world.state();
  const answer = await work();
  expect(await world.state()).toBe(before);
  return answer;
}

async function expectRefusal(statuses: number[], call: () => ReturnType<typeof ask>) {
  const answer = await call();
  expect(statuses).toContain(answer.status);
  expect(JSON.parse(answer.text).error.requestId).toBe('one-id');
  expect(answer.text).not.toContain(secretName);
  return answer;
}

const pathOf = (world: World, route: string) => {
  const { subject } = peopleRoutes[route] ?? {};
  const [, path] = split(route);
  return subject === undefined ? path : pathWith(path, foreignSubject(world, subject));
};

const noTokens = ({ people }: World): [what: string, token: string | null][] => [
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
  it('is whole: a route is in it with what it needs, or is open to anybody for a reason', async () => {
    const { api } = await createWorld();
    const document = await (await api.call('GET', '/v1/openapi.json', { token: null })).json();
    const described = Object.entries<object>(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const mounted = api.app.routes
      .filter(({ method }) => method !== 'ALL')
      .map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`);
    const known = [...Object.keys(peopleRoutes), ...Object.keys(agentRoutes), ...Object.keys(openToAnybody)];
    expect([...new Set([...described, ...mounted])].toSorted()).toEqual(known.toSorted());
  });
});

describe.each(Object.keys(peopleRoutes))('%s', (route) => {
  const { needs = 'read', subject, body, ok } = peopleRoutes[route] ?? {};

  it('lets nobody in without a token that is good', async () => {
    const world = await untouchedWorld();
    const { agents } = world;
    const ofOthers = Object.entries(agents);
    await expectUnchanged(world, async () => {
      for (const [, token] of [...noTokens(world), ...ofOthers]) {
        await expectRefusal([401], () => ask(world, route, { token, path: pathOf(world, route), body }));
      }
    });
  });

  it(`needs the scope ${needs}`, async () => {
    for (const who of ['readOnly', 'member'] as const) {
      const world = await (scopesOf(who).includes(needs) ? createWorld() : untouchedWorld());
      const call = () => ask(world, route, { token: world.people[who], path: pathOf(world, route), body });
      if (scopesOf(who).includes(needs)) expect([401, 403]).not.toContain((await call()).status);
      else if (subject === undefined) await expectDenied(world, [403], call);
      else await expectDenied(world, [403, 404], call);
    }
  });

  it('does not look beyond the workspace of its token', async () => {
    const isOfOthers = subject !== undefined && !ownWhateverTheName.includes(route);
    const world = await (isOfOthers ? untouchedWorld() : createWorld());
    const token = world.people.foreign;
    const [, path] = split(route);
    const before = await world.ofDefault();
    const answer = await ask(world, route, { token, path: pathOf(world, route), body });
    if (isOfOthers) {
      const foreignId = foreignSubject(world, subject);
      const foreign = await expectDenied(world, [404], () =>
        ask(world, route, { token, path: pathOf(world, route), body }),
      );
      const randomId = randomSubject(subject);
      const random = await expectDenied(world, [404], () =>
        ask(world, route, { token, path: pathWith(path, randomId), body }),
      );
      const unnamed = (text: string, id: string) => text.replaceAll(new RegExp(`\\b${id}\\b`, 'g'), 'ID');
      expect(unnamed(foreign.text, foreignId)).toBe(unnamed(random.text, randomId));
    } else if (needs === 'operator') expect(answer.status).toBe(403);
    expect(answer.text).not.toContain(secretName);
    if (!ownWhateverTheName.includes(route)) expect(answer.text).not.toMatch(/"(root|mia|rob|ada)"/);
    expect(await world.ofDefault()).toBe(before);
  });

  it('works for who may', async () => {
    const world = await createWorld();
    const { status } = await ask(world, route, { token: world.people.admin, path: pathOf(world, route), body });
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
      const world = await createWorld({ isPrivate: true });
      // A job's cluster is as private as its job.
      const numbers = pathOf(world, route).includes('/clusters/') ? [world.cluster, world.job] : [world.job];
      for (const number of numbers) {
        const path = pathWith(split(route)[1], String(number));
        const before = await world.ofDefault();
        const { status, text } = await ask(world, route, { token: world.people[who], path, body });
        // What there is to see, its creator sees: or else this test shows nothing.
        if (who === 'admin') {
          if (status === ok && contentRoutes.test(route)) expect(text).toContain(secretContent);
          continue;
        }
        expect(text).not.toContain(secretContent);
        expect(text).not.toMatch(/127\.0\.0\.1|i_/);
        const mayEnd = ofPrivate === 'end' && who === 'otherAdmin';
        // A job's cluster takes no such request from anybody.
        if (ofPrivate === 'outside') expect(status).toBe(200);
        else expect(mayEnd ? [ok] : [403, 409]).toContain(status);
        if (ofPrivate === 'outside') expect(text).toContain('"withheld":true');
        if (!mayEnd) expect(await world.ofDefault()).toBe(before);
      }
    }
  });
});

/** Those that answer with what it does. */
const contentRoutes = /^GET .*(jobs|clusters|\{number\}|events|logs)$/;

describe.each(Object.keys(agentRoutes))('%s', (route) => {
  const { token: own = 'task', path, body, ok } = agentRoutes[route] ?? {};

  it('lets nobody in without a token of its kind', async () => {
    const world = await untouchedWorld();
    const { people, agents } = world;
    const wrongKinds = own === 'launch' ? [agents.task, agents.dask] : [agents.launch];
    const others = [...wrongKinds, agents.dashboard, agents.session, ...Object.values(people)];
    await expectUnchanged(world, async () => {
      for (const token of [...noTokens(world).map(([, each]) => each), ...others]) {
        await expectRefusal([401], () => ask(world, route, { token, path: path?.(world), body: body?.(world) }));
      }
    });
  });

  it('answers for the instance of its token alone', async () => {
    const world = await createWorld();
    const { agents } = world;
    const foreign = own === 'launch' ? agents.otherWorkspaceLaunch : agents.otherWorkspace;
    const nowhere = own === 'launch' ? agents.nowhereLaunch : agents.otherCluster;
    // An agent whose cluster is not there is told to end, which is an answer.
    const telling = ['POST /v1/agent/report', 'POST /v1/agent/exchange', 'GET /v1/agent/orders'];
    const before = await world.ofDefault();
    // Another workspace's agent that claims to be an instance of ours speaks to its own cluster, whatever it says.
    const theirs = await ask(world, route, { token: foreign, path: path?.(world), body: body?.(world) });
    const { status, text } = await ask(world, route, { token: nowhere, path: path?.(world), body: body?.(world) });
    if (status === 200) {
      expect(telling).toContain(route);
      expect(JSON.parse(text)).toMatchObject({ stop: { code: expect.any(String) } });
    } else expect([403, 404]).toContain(status);
    expect(`${theirs.text} ${text}`).not.toContain(secretName);
    expect(await world.ofDefault()).toBe(before);
  });

  it('works for who may', async () => {
    const world = await createWorld();
    const { status } = await ask(world, route, { token: world.agents[own], path: path?.(world), body: body?.(world) });
    expect(status).toBe(ok);
  });
});

describe('methods that a path does not have', () => {
  it('do nothing, for whoever asks', async () => {
    const world = await createWorld();
    const routes = [...Object.keys(peopleRoutes), ...Object.keys(agentRoutes), ...Object.keys(openToAnybody)];
    const paths = [...new Set(routes.map((route) => split(route)[1]))];
    const before = await world.state();
    for (const path of paths) {
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE-ISH', 'QUERY']) {
        if (routes.includes(`${method} ${path}`)) continue;
        const subject = path.includes('{sha256}') ? world.packageFile : 'mia';
        const real = pathWith(path, path.includes('{number}') ? String(world.job) : subject);
        for (const token of [null, world.people.admin, world.agents.task]) {
          const { status } = await ask(world, `${method} ${path}`, { token, path: real });
          expect([401, 405]).toContain(status);
        }
      }
    }
    expect(await world.state()).toBe(before);
  });
});
