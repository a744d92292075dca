// Which Temporal namespace is a deployment's own: the names alone are no evidence.
import { expect, it } from 'vitest';

import { RopewalkError } from '../../domain/errors.ts';
import { type NamespaceFound, requireOwnNamespace, requireSameNamespace } from '../../platform/namespace-claim.ts';

function caught(call: () => void): RopewalkError {
  try {
    call();
  } catch (error) {
    if (error instanceof RopewalkError) return error;
  }
  throw new Error('no RopewalkError');
}

const own: NamespaceFound = { name: 'jobs', exists: true, id: 'id_1', owner: 'dep_1' };
const absent = { ...own, exists: false, id: null, owner: null };
const claim = { deploymentId: 'dep_1', temporalNamespaceId: 'id_1' };
const neverPrepared = { ...claim, temporalNamespaceId: null };

it('is the one with the recorded id, of this deployment', () => {
  expect(() => requireOwnNamespace(own, claim)).not.toThrow();
  expect(() => requireOwnNamespace(own, neverPrepared)).not.toThrow();
  // A server that reports no id.
  expect(() => requireOwnNamespace({ ...own, id: null }, claim)).not.toThrow();
});

it.each<[what: string, found: NamespaceFound, text: string]>([
  [
    'another deployment',
    { ...own, owner: 'dep_2' },
    'namespace jobs belongs to deployment dep_2; the database belongs to dep_1',
  ],
  ['no deployment', { ...own, owner: null }, 'No deployment has claimed the Temporal namespace jobs'],
  ['another server', { ...own, id: 'id_2' }, 'has another namespace jobs than the one that deployment dep_1 uses'],
  ['another server, which has none of this name', absent, 'lacks the namespace jobs that deployment dep_1 uses'],
])('is not that of %s', (_what, found, text) => {
  expect(() => requireOwnNamespace(found, claim)).toThrow(text);
});

it('may be new, or unclaimed, for `ropewalk init`, until the database has recorded one', () => {
  for (const found of [absent, { ...own, owner: null }]) {
    expect(() => requireSameNamespace(found, neverPrepared)).not.toThrow();
  }
  expect(() => requireSameNamespace({ ...own, owner: null }, claim)).not.toThrow();
  const refusal = caught(() => requireSameNamespace(absent, claim));
  expect(refusal.message).toContain('nothing was changed');
  for (const command of ['init', 'dev']) {
    expect(refusal.problem.hint).toContain(`\`ropewalk ${command} --new-temporal-namespace\``);
  }
});
