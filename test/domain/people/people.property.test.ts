// Tokens that create tokens, and admins who are added and removed, in random orders. A failure prints its seed and the smallest run.
import fc from 'fast-check';
import { expect, it } from 'vitest';

import { scopesOfRole } from '../../../domain/people/authority.ts';
import type { Role, Scope, Token } from '../../../domain/people/state.ts';
import { checkSimulations, describeShares, must, pick, same, type Met } from '../../builders/simulations.ts';
import { aModel, issue, put, remove, revoke, type Model } from './workspace-model.ts';

const subjects = [
  ...(['issued', 'too many scopes', 'too long', 'revoked is refused', 'removed', 'added again', 'last admin'] as const),
] as const;
type Subject = (typeof subjects)[number];

const name = fc.constantFrom('root', 'mia', 'rob');
const scope = fc.constantFrom<Scope>('read', 'write', 'admin', 'operator');
const step = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('issue'),
      // Mostly by the first token, which has full access.
      by: fc.oneof(fc.constant(0), fc.nat(9)),
      user: name,
      scopes: fc.option(fc.uniqueArray(scope, { minLength: 1, maxLength: 3 })),
      livesMs: fc.option(fc.integer({ min: 10, max: 200 })),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('revoke'), by: fc.nat(9), token: fc.nat(9) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('put'),
      by: fc.constantFrom(0, 0, 1, 2),
      user: name,
      role: fc.constantFrom<Role>('admin', 'member', 'read-only'),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('remove'), by: fc.nat(3), user: name }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait'), ms: fc.integer({ min: 1, max: 50 }) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
type Act = Extract<Step, { by: number }>;
const plan = fc.record({ steps: fc.array(step, { minLength: 20, maxLength: 50, size: 'max' }) });

interface Simulation {
  model: Model;
  nowMs: number;
  /** Names of removed users. */
  removed: Set<string>;
  met: Met<Subject>;
}

it('no token has more than its maker, and the workspace always has an admin', () => {
  const shares = checkSimulations({ plan, subjects, run }, { numRuns: 500 });
  console.log(`people: ${describeShares(shares)}`);
  for (const share of Object.values(shares)) expect(share).toBeGreaterThanOrEqual(0.05);
});

function run({ steps }: { steps: Step[] }, met: Met<Subject>): void {
  const sim: Simulation = { model: aModel(), nowMs: 1, removed: new Set(), met };
  for (const each of steps) {
    if (each.do === 'wait') sim.nowMs += each.ms;
    else act(sim, each);
    must(
      sim.model.users.some(({ role }) => role === 'admin'),
      () => 'no user is an admin',
    );
  }
}

/** The scopes of a token, computed by this test itself. */
function rightsOf({ model, nowMs }: Simulation, token: Token): Scope[] {
  const owner = model.users.find(({ id }) => id === token.userId);
  const hasEnded = token.revokedAtMs !== null || (token.expiresAtMs !== null && nowMs >= token.expiresAtMs);
  if (owner === undefined || hasEnded) return [];
  return token.scopes.filter((each) => scopesOfRole(owner.role, 'w').includes(each));
}

function act(sim: Simulation, each: Act): void {
  const { model, met } = sim;
  const actor = pick(model.tokens, each.by);
  if (actor === undefined) return;
  const rights = rightsOf(sim, actor);
  const before = structuredClone(model);
  const answer = perform(sim, each, actor);
  if ('error' in answer) {
    must(same({ ...before, ids: 0 }, { ...model, ids: 0 }), () => 'a refusal changed the workspace');
    if (answer.error.field === 'scopes') met('too many scopes');
    if (answer.error.field === 'expires') met('too long');
    if (answer.error.message.includes('last admin')) met('last admin');
    if (rights.length === 0) met('revoked is refused');
    return;
  }
  must(rights.length > 0, () => `an ended token could ${each.do}`);
  const isAdmin = rights.includes('admin');
  if (each.do === 'issue') checkIssued(sim, { actor, rights, isAdmin });
  else if (each.do === 'revoke') {
    const token = pick(before.tokens, each.token);
    must(isAdmin || token?.user === actor.user, () => 'the token of another user was revoked');
  } else must(isAdmin, () => `${actor.user} is no admin`);
  if (each.do === 'put') checkAdded(sim, before, each.user);
  if (each.do !== 'remove') return;
  met('removed');
  sim.removed.add(each.user);
  must(
    model.tokens.every((token) => token.user !== each.user || token.revokedAtMs !== null),
    () => 'a removed user has a working token',
  );
}

function checkIssued({ model, met }: Simulation, maker: { actor: Token; rights: Scope[]; isAdmin: boolean }): void {
  met('issued');
  const { actor, rights, isAdmin } = maker;
  const made = model.tokens.at(-1);
  if (made === undefined) throw new Error('no token was made');
  must(made.user === actor.user || isAdmin, () => 'a token was made for another user');
  const order: Scope[] = ['read', 'write', 'admin'];
  const best = Math.max(...rights.map((right) => order.indexOf(right)));
  must(
    made.scopes.every((right) => order.indexOf(right) >= 0 && order.indexOf(right) <= best),
    () => `${String(made.scopes)} is more than ${String(rights)}`,
  );
  must((actor.expiresAtMs ?? Infinity) >= (made.expiresAtMs ?? Infinity), () => 'a token outlives its maker');
}

/** A user who was removed and added again is another one. */
function checkAdded(sim: Simulation, before: Model, user: string): void {
  if (!sim.removed.has(user) || before.users.some((each) => each.name === user)) return;
  sim.met('added again');
  const added = sim.model.users.find((each) => each.name === user);
  for (const token of before.tokens) {
    must(token.userId !== added?.id, () => `${user} was added with the id of the removed one`);
    must(token.user !== user || rightsOf(sim, token).length === 0, () => `an earlier token of ${user} works again`);
  }
}

function perform({ model, nowMs }: Simulation, each: Act, actor: Token) {
  const by = { user: actor.user, tokenId: actor.id };
  if (each.do === 'issue') {
    const count = model.tokens.length;
    const expiresAtMs = each.livesMs === null ? null : nowMs + each.livesMs;
    return issue(
      model,
      { id: `t${count}`, secretHash: `s${count}`, user: each.user, scopes: each.scopes, expiresAtMs, by },
      nowMs,
    );
  }
  if (each.do === 'revoke') return revoke(model, { id: pick(model.tokens, each.token)?.id ?? '', by }, nowMs);
  if (each.do === 'remove') return remove(model, { name: each.user, by }, nowMs);
  return put(model, { name: each.user, role: each.role, by }, nowMs);
}
