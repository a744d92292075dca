// The rules of users and tokens, one case each.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { includes, needsAdmin, scopesOfRole } from '../../../domain/people/authority.ts';
import { configure } from '../../../domain/people/configure.ts';
import { replaceDefaults } from '../../../domain/people/defaults.ts';
import { maxTokensPerUser, maxUsersPerWorkspace } from '../../../domain/people/limits.ts';
import type { IssueToken, Scope } from '../../../domain/people/state.ts';
import { issueFirstToken, issueToken } from '../../../domain/people/tokens.ts';
import { putUser } from '../../../domain/people/users.ts';
import { slugProblem } from '../../../domain/people/workspace.ts';
import { defaultLimits } from '../../../domain/quota/limits.ts';
import { aModel, callerOf, issue, put, remove, revoke, scopesOf } from './workspace-model.ts';

const root = { user: 'root', tokenId: 't0' };
const aToken = (over: Partial<IssueToken> = {}): IssueToken => ({
  ...{ id: 't1', secretHash: 's1', user: 'root', expiresAtMs: null, scopes: null, by: root, ...over },
});

describe('tokens', () => {
  it('are issued once for an id, and revoked for good, in any order of requests', () => {
    const id = fc.constantFrom('a', 'b', 'c');
    const step = fc.oneof(
      fc.record({ do: fc.constant('issue'), id, secretHash: fc.constantFrom('1', '2') }),
      fc.record({ do: fc.constant('revoke'), id }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        const model = aModel();
        const known = new Map<string, { secretHash: string; revokedAtMs: number | null }>();
        for (const [nowMs, each] of steps.entries()) {
          const first = known.get(each.id);
          if (each.do === 'issue') {
            const isAccepted = first === undefined || first.secretHash === each.secretHash;
            expect('ok' in issue(model, aToken({ id: each.id, secretHash: each.secretHash }), nowMs)).toBe(isAccepted);
            if (first === undefined) known.set(each.id, { secretHash: each.secretHash, revokedAtMs: null });
          } else {
            expect('ok' in revoke(model, { id: each.id, by: null }, nowMs)).toBe(first !== undefined);
            if (first !== undefined) first.revokedAtMs ??= nowMs;
          }
          const kept = model.tokens
            .slice(1)
            .map(({ secretHash, revokedAtMs, ...token }) => [token.id, { secretHash, revokedAtMs }]);
          expect(kept).toEqual([...known]);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('have all scopes of their maker that the role of their user includes', () => {
    const model = aModel();
    put(model, { name: 'rob', role: 'read-only', by: root }, 1);
    expect(issue(model, aToken({ user: 'rob' }), 2)).toMatchObject({ ok: { issued: { scopes: ['read'] } } });
    const more = aToken({ id: 't2', user: 'rob', scopes: ['write'] });
    expect(issue(model, more, 2)).toMatchObject({ error: { code: 'FORBIDDEN', field: 'scopes' } });
  });

  it('for another admin have the scope operator only if the request names it', () => {
    const model = aModel('default');
    put(model, { name: 'mia', role: 'admin', by: root }, 1);
    const usual = issue(model, aToken({ user: 'mia' }), 2);
    expect(usual).toMatchObject({ ok: { issued: { scopes: ['read', 'write', 'admin'] } } });
    const named = issue(model, aToken({ id: 't2', user: 'mia', scopes: ['read', 'operator'] }), 2);
    expect(named).toMatchObject({ ok: { issued: { scopes: ['read', 'operator'] } } });
    const own = issue(model, aToken({ id: 't3' }), 2);
    expect(own).toMatchObject({ ok: { issued: { scopes: ['read', 'write', 'admin', 'operator'] } } });
  });

  it('expire with their maker, and exactly at their time', () => {
    const model = aModel();
    issue(model, aToken({ expiresAtMs: 100 }), 1);
    const by = { user: 'root', tokenId: 't1' };
    expect(issue(model, aToken({ id: 't2', by }), 2)).toMatchObject({ ok: { issued: { expiresAtMs: 100 } } });
    expect(issue(model, aToken({ id: 't3', by, expiresAtMs: 101 }), 2)).toMatchObject({ error: { field: 'expires' } });
    expect(scopesOf(model, by, 99)).toContain('admin');
    expect(scopesOf(model, by, 100)).toEqual([]);
  });

  it('work for the user and workspace of their own alone', () => {
    const model = aModel();
    put(model, { name: 'mia', role: 'admin', by: root }, 1);
    expect(scopesOf(model, { user: 'mia', tokenId: 't0' }, 2)).toEqual([]);
    expect(scopesOf(model, { user: 'root', tokenId: 'unknown' }, 2)).toEqual([]);
    const stranger = { ...callerOf(model, root), token: null };
    expect(needsAdmin(stranger, 2)).toMatchObject({ code: 'UNAUTHENTICATED' });
  });

  it('of a removed user do not work for another user of the same name', () => {
    const model = aModel();
    model.users = model.users.map((user) => ({ ...user, id: 'u_another' }));
    expect(scopesOf(model, root, 1)).toEqual([]);
  });

  it('lose the scopes that a new role of their user does not include', () => {
    const model = aModel();
    put(model, { name: 'mia', role: 'admin', by: root }, 1);
    issue(model, aToken({ user: 'mia' }), 1);
    const by = { user: 'mia', tokenId: 't1' };
    expect(scopesOf(model, by, 2)).toEqual(['read', 'write', 'admin']);
    put(model, { name: 'mia', role: 'read-only', by: root }, 2);
    expect(scopesOf(model, by, 2)).toEqual(['read']);
  });

  it('have a bound for each user', () => {
    const model = aModel();
    const rows = { caller: callerOf(model, root), known: null, user: model.users[0] ?? null, newUserId: 'u_9' };
    expect(issueToken({ ...rows, counted: maxTokensPerUser - 1 }, aToken(), 1)).toHaveProperty('ok');
    const refused = issueToken({ ...rows, counted: maxTokensPerUser }, aToken(), 1);
    expect(refused).toMatchObject({ error: { code: 'LIMIT_EXCEEDED' } });
  });

  it('made by the operator add their user as an admin', () => {
    const model = aModel();
    issue(model, aToken({ user: 'eve', by: null }), 1);
    expect(model.users.at(-1)).toMatchObject({ name: 'eve', role: 'admin' });
    expect(model.tokens.at(-1)).toMatchObject({ user: 'eve', userId: model.users.at(-1)?.id, createdBy: null });
  });

  it('come first with a workspace that has no users', () => {
    const admin = { name: 'ada', token: { id: 't', secretHash: 's', expiresAtMs: 7 } };
    const rows = { slug: 'w', known: null, newUserId: 'u_1' };
    expect(issueFirstToken({ ...rows, users: 0 }, admin, 1)).toMatchObject({
      ok: { issued: { user: 'ada', expiresAtMs: 7 }, user: { id: 'u_1', role: 'admin' }, token: { userId: 'u_1' } },
    });
    expect(issueFirstToken({ ...rows, users: 1 }, admin, 1)).toMatchObject({ error: { code: 'CONFLICT' } });
  });
});

describe('users', () => {
  it('have a bound for each workspace, and one who exists can still be changed', () => {
    const model = aModel();
    const rows = { caller: callerOf(model, root), users: maxUsersPerWorkspace, admins: 2, newUserId: 'u_9' };
    const refused = putUser({ ...rows, known: null }, { name: 'more', by: root }, 1);
    expect(refused).toMatchObject({ error: { code: 'LIMIT_EXCEEDED' } });
    const known = model.users[0] ?? null;
    expect(putUser({ ...rows, known }, { name: 'root', role: 'member', by: root }, 1)).toHaveProperty('ok');
  });

  it('merge limits of their own, and null removes them', () => {
    const model = aModel();
    put(model, { name: 'rob', limits: { running: 1, vcpus: 2 }, by: root }, 1);
    put(model, { name: 'rob', limits: { vcpus: 3 }, by: root }, 2);
    expect(model.users.at(-1)?.limits).toEqual({ running: 1, vcpus: 3 });
    put(model, { name: 'rob', limits: { vcpus: null }, by: root }, 3);
    expect(model.users.at(-1)?.limits).toEqual({ running: 1 });
    put(model, { name: 'rob', limits: null, by: root }, 4);
    expect(model.users.at(-1)?.limits).toEqual({});
  });

  it('cannot be removed by themselves when they are the last admin', () => {
    const model = aModel();
    expect(remove(model, { name: 'root', by: root }, 1)).toMatchObject({ error: { code: 'CONFLICT' } });
    expect(remove(model, { name: 'unknown', by: root }, 1)).toMatchObject({ error: { code: 'NOT_FOUND' } });
  });
});

describe('scopes', () => {
  it('include those below them, but for operator', () => {
    const all: Scope[] = ['read', 'write', 'admin', 'operator'];
    const included = (held: Scope[]) => all.filter((each) => includes(held, each));
    expect(included(['read'])).toEqual(['read']);
    expect(included(['write'])).toEqual(['read', 'write']);
    expect(included(['admin'])).toEqual(['read', 'write', 'admin']);
    expect(included(['operator'])).toEqual(['operator']);
    expect(included([])).toEqual([]);
  });

  it('of an operator belong to admins of the workspace default', () => {
    expect(scopesOfRole('admin', 'default')).toContain('operator');
    expect(scopesOfRole('admin', 'other')).not.toContain('operator');
    expect(scopesOfRole('member', 'default')).toEqual(['read', 'write']);
  });
});

describe('workspaces', () => {
  it('have slugs that fit into a URL', () => {
    for (const slug of ['a', '0', 'constructor', 'a-b', 'a'.repeat(40)]) expect(slugProblem(slug)).toBeNull();
    for (const slug of ['', '-a', 'A', 'a_b', 'a.b', 'a\n', 'a'.repeat(41)]) {
      expect(slugProblem(slug)).toMatchObject({ code: 'VALIDATION', field: 'slug' });
    }
  });

  it('record a change of limits with who made it', () => {
    const before = { limits: defaultLimits, perUser: { running: 1 }, caller: callerOf(aModel(), root) };
    expect(configure(before, { limits: { vcpus: 5 }, perUser: { vcpus: 2 } }, 9)).toMatchObject({
      ok: {
        limits: { ...defaultLimits, vcpus: 5 },
        perUser: { running: 1, vcpus: 2 },
        event: {
          ...{ atMs: 9, by: 'root', code: 'LIMITS' },
          text: 'at most 1000 open jobs and clusters, 2000 instances, 5 vCPUs; each user at most 1 open job or cluster, 2 vCPUs',
        },
      },
    });
    expect(replaceDefaults(before.caller, { provider: 'aws', zone: undefined, allowSsh: false }, 9)).toMatchObject({
      ok: { event: { code: 'DEFAULTS', text: 'provider aws, SSH no' } },
    });
    expect(configure({ ...before, perUser: {} }, { limits: {} }, 9)).toMatchObject({
      ok: { event: { text: expect.stringMatching(/ vCPUs; each user without limits$/) } },
    });
  });
});
