// What a workspace hands on fits into one message of Temporal after any number of admissions, and forgets no key that it need
// not forget.
import { randomBytes, randomUUID } from 'node:crypto';

import fc from 'fast-check';
import { expect, it } from 'vitest';

import { admit } from '../../../domain/workspace/admit.ts';
import { createWorkspaceState } from '../../../domain/workspace/create.ts';
import { forgetForNextRun } from '../../../domain/workspace/keys.ts';
import type { AdmitItem, WorkspaceState } from '../../../domain/workspace/state.ts';
import { issueToken } from '../../../domain/workspace/tokens.ts';
import {
  idempotencyTtlMs,
  maxCarriedBytes,
  maxOpenInWorkspace,
  maxWorkspaceTokens,
  maxWorkspaceUsers,
} from '../../../domain/limits.ts';

const limitOfTemporal = 2 * 1024 * 1024;
const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

const empty = (): WorkspaceState => {
  const block = { next: 1, end: 1_000_000 };
  const state = createWorkspaceState({ slug: 'w', deploymentId: 'd', createdAtMs: 0, block });
  state.limits = { running: maxOpenInWorkspace, instances: 1_000_000, vcpus: 1_000_000 };
  return state;
};

const item = (key: string, more: Partial<AdmitItem> = {}): AdmitItem => ({
  ...{ admissionId: `adm_${randomBytes(16).toString('hex')}`, idempotencyKey: key, bodyHash: 'f'.repeat(64) },
  ...{ kind: 'job', name: '', getOrCreate: false, specRef: `specs/w/adm_${'x'.repeat(32)}.json`, user: 'ada' },
  ...{ instances: 1, vcpus: 1, ...more },
});

it('hands on what fits after a life of admissions, and the keys of the last day first', () => {
  const state = empty();
  const keys: string[] = [];
  for (let n = 0; n < 12_000; n += 1) {
    const key = `ada:${randomUUID()}`;
    keys.push(key);
    expect('ok' in admit(state, item(key), n * 600_000)).toBe(true);
    state.holders = [];
    if (n % 700 === 699) forgetForNextRun(state, n * 600_000);
  }
  const lastMs = 11_999 * 600_000;
  forgetForNextRun(state, lastMs);
  expect(bytesOf(state)).toBeLessThan(limitOfTemporal);
  const ofTheDay = keys.slice(-idempotencyTtlMs / 600_000);
  expect(Object.keys(state.keys)).toEqual(ofTheDay);
});

it('hands on the newest of those that are younger than a day, as many as there is room for', () => {
  const state = empty();
  for (let n = 0; n < 15_000; n += 1) {
    admit(state, item(`ada:${n}`), n);
    state.holders = [];
  }
  forgetForNextRun(state, 15_000);
  const kept = Object.keys(state.keys);
  expect(kept.length).toBeGreaterThan(5_000);
  expect(kept).toEqual(Array.from({ length: kept.length }, (_, at) => `ada:${15_000 - kept.length + at}`));
  expect(bytesOf(state)).toBeLessThan(maxCarriedBytes + 1_000);
});

it('hands on everything else when it is as full as it may be', () => {
  const state = empty();
  for (let n = 0; n < maxWorkspaceUsers; n += 1) {
    state.users.push({
      name: `somebody-${n}`,
      role: 'member',
      limits: { running: 10 },
      createdAtMs: 1_700_000_000_000,
    });
  }
  for (let n = 0; n < maxWorkspaceTokens; n += 1) {
    const token = { id: `tok${String(n).padStart(9, '0')}`, sha256: 'a'.repeat(64), user: `somebody-${n}` };
    expect('ok' in issueToken(state, { ...token, scopes: ['read'], expiresAtMs: null }, 1_700_000_000_000)).toBe(true);
  }
  for (let n = 0; n < maxOpenInWorkspace; n += 1) {
    const user = `somebody-${n % 1_000}`;
    expect('ok' in admit(state, item(`${user}:${randomUUID()}`, { name: `a-fair-name-${n}`, user }), n)).toBe(true);
  }
  forgetForNextRun(state, maxOpenInWorkspace);
  expect(bytesOf(state)).toBeLessThan(limitOfTemporal);
  expect(state.holders).toHaveLength(maxOpenInWorkspace);
  expect(state.tokens).toHaveLength(maxWorkspaceTokens);
});

it('knows how many keys it has', () => {
  const step = fc.record({ key: fc.integer({ min: 0, max: 20 }), ms: fc.constantFrom(0, 1_000, idempotencyTtlMs) });
  fc.assert(
    fc.property(fc.array(fc.option(step, { nil: null })), (steps) => {
      const state = empty();
      let nowMs = 0;
      for (const each of steps) {
        nowMs += each?.ms ?? 0;
        if (each === null) forgetForNextRun(state, nowMs);
        else admit(state, item(`ada:${each.key}`), nowMs);
        expect(state.keyCount ?? 0).toBe(Object.keys(state.keys).length);
      }
    }),
  );
});

it('answers a repeat of what was found by its name as found so, for it may be ending by now', () => {
  const state = empty();
  const made = admit(state, item('ada:1', { name: 'x', getOrCreate: true }), 0);
  const found = admit(state, item('ada:2', { name: 'x', getOrCreate: true }), 1);
  expect(found).toMatchObject({ ok: { number: 1, existing: true, named: true } });
  expect(admit(state, item('ada:2', { name: 'x', getOrCreate: true }), 2)).toEqual(found);
  expect(made).not.toHaveProperty('ok.named');
  expect(admit(state, item('ada:1', { name: 'x', getOrCreate: true }), 3)).not.toHaveProperty('ok.named');
});
