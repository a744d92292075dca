// A simulated world of a workspace's people: tokens that make tokens, admins who come and go, and clusters whose requests
// for another size are delivered late, in any order, or never.
import fc from 'fast-check';

import type { Role, Scope, WorkspaceState, WorkspaceToken } from '../../domain/workspace/state.ts';
import { scopesOfRole } from '../../domain/workspace/authority.ts';
import { useOf } from '../../domain/workspace/use.ts';
import { aim, type Cluster, endOne, hear, settleAll, speak } from './people-clusters.ts';
import type { WorkspaceRules } from './rules.ts';
import { type CheckOptions, checkWorlds, type Met, must, pick } from './worlds.ts';

const subjects = [
  ...['issued', 'too much', 'too long', 'revoked is refused', 'removed', 'last admin', 'limit of a user'],
  ...['grown', 'refused growth', 'overtaken', 'lost request', 'adaptive off', 'given back'],
] as const;
type Subject = string;

export function checkPeopleWorlds(rules: WorkspaceRules, options: CheckOptions): Record<string, number> {
  const run = (plan: Plan, met: Met<Subject>): void => runWorld(rules, plan, met);
  return checkWorlds({ plan: planOf, subjects, run }, options);
}

const names = ['root', 'mia', 'rob'];
const name = fc.constantFrom(...names);
const role = fc.constantFrom<Role>('admin', 'member', 'read-only');
const scope = fc.constantFrom<Scope>('read', 'write', 'admin', 'operator');
const issue = fc.record({
  do: fc.constant('issue'),
  // Mostly the first token's, which may most.
  by: fc.oneof(fc.constant(0), fc.nat(9)),
  user: name,
  scopes: fc.option(fc.uniqueArray(scope, { minLength: 1, maxLength: 3 })),
  livesMs: fc.option(fc.integer({ min: 10, max: 200 })),
});
const asked = fc.record({ do: fc.constant('ask'), cluster: fc.nat(3), adapt: fc.boolean(), instances: fc.nat(7) });
const limit = fc.option(fc.integer({ min: 2, max: 8 }));
const step = fc.oneof(
  { weight: 12, arbitrary: issue },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('revoke'), by: fc.nat(9), token: fc.nat(9) }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('put'), by: fc.constantFrom(0, 0, 1, 2), user: name, role, limit }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('remove'), by: fc.nat(3), user: name }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait'), ms: fc.integer({ min: 1, max: 50 }) }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('admit'), user: name, instances: fc.integer({ min: 1, max: 4 }) }),
  },
  { weight: 8, arbitrary: asked },
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constant('deliver'), message: fc.nat(4), lost: fc.integer({ min: 0, max: 5 }) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('end one'), cluster: fc.nat(3), word: fc.option(fc.nat(3)) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('drift'), cluster: fc.nat(3), to: fc.nat(9) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
const planOf = fc.record({ steps: fc.array(step, { minLength: 20, maxLength: 50, size: 'max' }) });
type Plan = typeof planOf extends fc.Arbitrary<infer T> ? T : never;

interface World {
  rules: WorkspaceRules;
  state: WorkspaceState;
  nowMs: number;
  count: number;
  clusters: Cluster[];
  messages: { cluster: Cluster; kind: 'scale' | 'adapt'; seq: number; instances: number }[];
  met: Met<Subject>;
}

function runWorld(rules: WorkspaceRules, { steps }: Plan, met: Met<Subject>): void {
  const state = rules.createWorkspaceState({
    slug: 'w',
    deploymentId: 'd',
    createdAtMs: 0,
    block: { next: 1, end: 99 },
  });
  rules.configure(state, { instances: 14, vcpus: 28 }, { nowMs: 0 });
  const world: World = { rules, state, nowMs: 1, count: 0, clusters: [], messages: [], met };
  rules.issueToken(state, { id: 't0', sha256: 's0', user: 'root', scopes: null, expiresAtMs: null }, 0);
  for (const each of steps) {
    take(world, each);
    for (const cluster of world.clusters) speak(cluster);
    must(
      state.users.some((user) => user.role === 'admin'),
      () => 'nobody is an admin',
    );
    for (const { number, target, most, running } of world.clusters) {
      const holder = state.holders.find((one) => one.number === number);
      const held = holder?.instances ?? 0;
      must(holder === undefined || holder.vcpus === sizeOf(holder.instances, holder), () => 'vCPUs do not follow');
      const may = Math.max(target, most, running);
      must(held >= may, () => `cluster ${number} holds ${held}, has ${running}, and may have ${target} or ${most}`);
    }
  }
  settleAll(world);
}

function take(world: World, each: Step): void {
  if (each.do === 'wait') world.nowMs += each.ms;
  else if (each.do === 'admit') admit(world, each.user, each.instances);
  else if (each.do === 'ask') ask(world, each.cluster, each.adapt ? 'adapt' : 'scale', each.instances);
  else if (each.do === 'deliver') deliver(world, each.message, each.lost === 0);
  else if (each.do === 'drift') {
    const cluster = pick(world.clusters, each.cluster);
    if (cluster !== undefined && cluster.most > 0) aim(cluster, 1 + (each.to % cluster.most));
  } else if (each.do === 'end one') {
    const cluster = pick(world.clusters, each.cluster);
    if (cluster !== undefined) endOne(world, cluster, each.word);
  } else act(world, each);
}

/** What an acting token may do, by this world's own reckoning. */
function rightsOf({ state, nowMs }: World, token: WorkspaceToken): Scope[] {
  const owner = state.users.find((user) => user.name === token.user);
  const isOver = token.revokedAtMs !== null || (token.expiresAtMs !== null && nowMs >= token.expiresAtMs);
  return owner === undefined || isOver
    ? []
    : token.scopes.filter((each) => scopesOfRole(owner.role, 'w').includes(each));
}

function act(world: World, each: Extract<Step, { by: number }>): void {
  const { rules, state, nowMs, met } = world;
  const actor = pick(state.tokens, each.by);
  if (actor === undefined) return;
  const by = { user: actor.user, tokenId: actor.id };
  const rights = rightsOf(world, actor);
  const isAdmin = rights.includes('admin');
  const before = JSON.stringify(state);
  const answer = perform();
  if ('error' in answer) {
    must(before === JSON.stringify(state), () => 'a refusal changed the state');
    if (answer.error.field === 'scopes') met('too much');
    if (answer.error.field === 'expires') met('too long');
    if (answer.error.message.includes('last admin')) met('last admin');
    if (rights.length === 0) met('revoked is refused');
    return;
  }
  must(rights.length > 0, () => `a token that is no longer good could ${each.do}`);
  if (each.do === 'issue') {
    met('issued');
    const made = state.tokens.at(-1);
    if (made === undefined) throw new Error('nothing was made');
    must(made.user === by.user || isAdmin, () => 'a token was made for somebody else');
    const order: Scope[] = ['read', 'write', 'admin'];
    const best = Math.max(...rights.map((right) => order.indexOf(right)));
    must(
      made.scopes.every((right) => order.indexOf(right) >= 0 && order.indexOf(right) <= best),
      () => 'more than its maker',
    );
    must((actor.expiresAtMs ?? Infinity) >= (made.expiresAtMs ?? Infinity), () => 'a token outlives its maker');
  } else if (each.do === 'revoke') {
    const token = state.tokens.find((other) => 'id' in answer.ok && other.id === answer.ok.id);
    must(token !== undefined && token.revokedAtMs !== null && (isAdmin || token.user === by.user), () => 'not theirs');
  } else {
    must(isAdmin, () => `${by.user} is no admin`);
    if (each.do !== 'remove') return;
    met('removed');
    must(
      state.tokens.every((token) => token.user !== each.user || token.revokedAtMs !== null),
      () => 'who is gone has a token left',
    );
  }

  function perform(): { ok: object } | { error: { field?: string; message: string } } {
    if (each.do === 'issue') {
      world.count += 1;
      const { count } = world;
      const expiresAtMs = each.livesMs === null ? null : nowMs + each.livesMs;
      const item = { id: `t${count}`, sha256: `s${count}`, user: each.user, scopes: each.scopes, expiresAtMs, by };
      return rules.issueToken(state, item, nowMs);
    }
    if (each.do === 'revoke') return rules.revokeToken(state, pick(state.tokens, each.token)?.id ?? '', nowMs, by);
    if (each.do === 'remove') return rules.removeUser(state, { name: each.user, by }, nowMs);
    const limits = each.limit === null ? null : { instances: each.limit };
    return rules.putUser(state, { name: each.user, role: each.role, limits, by }, nowMs);
  }
}

function admit(world: World, user: string, instances: number): void {
  const { rules, state, nowMs, met } = world;
  world.count += 1;
  const key = `adm${world.count}`;
  const sent = { admissionId: key, idempotencyKey: key, bodyHash: '', kind: 'cluster', name: '', specRef: '' } as const;
  // An earlier API says nothing of its workers, and then the head is as large as they are.
  const size = world.count % 3 === 0 ? {} : { workerVcpus: 1 };
  const vcpus = sizeOf(instances, size);
  const answer = rules.admit(state, { ...sent, getOrCreate: false, user, instances, vcpus, ...size }, nowMs);
  if ('error' in answer) return;
  world.clusters.push({
    number: answer.ok.number,
    target: instances,
    most: 0,
    scaleSeq: 0,
    adaptSeq: 0,
    running: instances,
    words: [],
    said: null,
  });
  checkLimits(world, user, met);
}

function ask(world: World, which: number, kind: 'scale' | 'adapt', asked: number): void {
  const { rules, state, met } = world;
  const cluster = pick(world.clusters, which);
  const holder = state.holders.find((each) => each.number === cluster?.number);
  if (cluster === undefined || holder === undefined) return;
  const instances = kind === 'scale' ? asked + 1 : asked;
  const before = holder.instances;
  const answer = rules.reserveShare(state, { number: cluster.number, kind, instances });
  if ('error' in answer) {
    met('refused growth');
    return must(holder.instances === before, () => 'a refusal changed the share');
  }
  if (holder.instances > before) {
    met('grown');
    checkLimits(world, holder.user, met);
  }
  world.messages.push({ cluster, kind, seq: answer.ok.seq, instances });
}

function deliver(world: World, which: number, lost: boolean): void {
  const message = pick(world.messages, which);
  if (message === undefined) return;
  world.messages = world.messages.filter((each) => each !== message);
  if (lost) return world.met('lost request');
  const { cluster, kind, seq, instances } = message;
  const newest = kind === 'scale' ? cluster.scaleSeq : cluster.adaptSeq;
  if (seq < newest) world.met('overtaken');
  else if (kind === 'scale') {
    cluster.scaleSeq = seq;
    aim(cluster, instances);
  } else {
    if (instances === 0) world.met('adaptive off');
    else aim(cluster, Math.min(cluster.target, instances));
    Object.assign(cluster, { adaptSeq: seq, most: instances });
  }
  // Whichever comes first: the end of the request, or the cluster's own word.
  speak(cluster);
  if (seq % 2 === 0) hear(world, cluster, cluster.words.length - 1);
  world.rules.settleShare(world.state, { number: cluster.number, kind, seq });
}

/** Heads of four vCPUs with smaller workers, or two everywhere. */
const sizeOf = (instances: number, { workerVcpus }: { workerVcpus?: number }): number =>
  workerVcpus === undefined ? 2 * instances : 4 + (instances - 1) * workerVcpus;

function checkLimits({ state }: World, user: string, met: Met<Subject>): void {
  const all = useOf(state.holders);
  must(all.instances <= state.limits.instances && all.vcpus <= state.limits.vcpus, () => 'above the limits');
  const limit = state.users.find((each) => each.name === user)?.limits.instances;
  if (limit === undefined) return;
  met('limit of a user');
  must(useOf(state.holders, user).instances <= limit, () => `${user} is above the limit of ${limit}`);
}
