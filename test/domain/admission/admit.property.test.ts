// The decision of an admission against a model of a workspace: callers with few names and keys, who repeat their requests.
import fc from 'fast-check';
import { expect, it } from 'vitest';

import {
  decideAdmission,
  defaultName,
  type AdmissionRequest,
  type EarlierAnswer,
  type Found,
  type NameOwner,
} from '../../../domain/admission/admit.ts';
import { idempotencyTtlMs } from '../../../domain/admission/limits.ts';
import type { Problem } from '../../../domain/errors.ts';
import { checkSimulations, describeShares, must, pick, type Met } from '../../builders/simulations.ts';

const subjects = [
  ...(['admitted', 'repeat', 'other body', 'name taken', 'limit', 'released', 'get or create', 'replaced'] as const),
] as const;
type Subject = (typeof subjects)[number];

const request = fc.record({
  do: fc.constant('admit'),
  key: fc.nat(12),
  bodyHash: fc.constantFrom('one', 'one', 'one', 'other'),
  name: fc.constantFrom('', '', '', 'weather', 'night', 'job-2'),
  getOrCreate: fc.boolean(),
  kind: fc.constantFrom('job' as const, 'job' as const, 'cluster' as const),
  instances: fc.integer({ min: 1, max: 4 }),
  /** The caller has seen that the owner of the name is ending. */
  sawEnding: fc.boolean(),
});
const step = fc.oneof(
  { weight: 40, arbitrary: request },
  { weight: 12, arbitrary: fc.record({ do: fc.constant('release'), which: fc.nat(5) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('wait'), ms: fc.constantFrom(1_000, idempotencyTtlMs) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
type Request = typeof request extends fc.Arbitrary<infer T> ? T : never;
const plan = fc.record({ steps: fc.array(step, { minLength: 10, maxLength: 40, size: 'max' }) });

interface Simulation {
  nowMs: number;
  count: number;
  keys: Map<string, EarlierAnswer>;
  names: Map<string, NameOwner>;
  open: Map<number, AdmissionRequest>;
  met: Met<Subject>;
}

const limits = { running: 6, instances: 12, vcpus: 20 };

it('gives a key one number, a name one open owner, and a workspace no more than its limits', () => {
  const shares = checkSimulations({ plan, subjects, run }, { numRuns: 500 });
  console.log(`admissions: ${describeShares(shares)}`);
  for (const share of Object.values(shares)) expect(share).toBeGreaterThanOrEqual(0.05);
});

function run({ steps }: { steps: Step[] }, met: Met<Subject>): void {
  const sim: Simulation = { nowMs: 1, count: 0, keys: new Map(), names: new Map(), open: new Map(), met };
  for (const each of steps) {
    if (each.do === 'wait') sim.nowMs += each.ms;
    else if (each.do === 'release') release(sim, pick([...sim.open.keys()], each.which));
    else ask(sim, each);
  }
}

function ask(sim: Simulation, asked: Request): void {
  const { key, sawEnding, instances, bodyHash, name, getOrCreate, kind } = asked;
  sim.count += 1;
  const owner = name === '' ? undefined : sim.names.get(name);
  const instead = sawEnding && owner !== undefined ? { instead: owner.number } : {};
  const item = {
    ...{ admissionId: `adm_${sim.count}`, bodyHash, name, getOrCreate, kind, instances, vcpus: 2 * instances },
    estimate: { microsPerHour: 0, totalMicros: 0 },
    ...instead,
  };
  const answer = admit(sim, `u/${key}`, item);
  // The caller did not receive the answer and sends the same request again.
  const again = admit(sim, `u/${key}`, item);
  const outcome = (each: Found | Problem): unknown => ('code' in each ? each.code : each.number);
  must(
    outcome(answer) === outcome(again),
    () => `sent twice: ${JSON.stringify(answer)}, then ${JSON.stringify(again)}`,
  );
}

/** The store's handling of the decision. */
function admit(sim: Simulation, key: string, item: AdmissionRequest): Found | Problem {
  const { nowMs, met } = sim;
  const earlier = sim.keys.get(key) ?? null;
  const owner = item.name === '' ? null : (sim.names.get(item.name) ?? null);
  const use = useOf(sim);
  const quota = { workspace: { use, limits }, user: { name: 'u', use, limits: {} } };
  const decision = decideAdmission(
    {
      earlier,
      owner,
      openRetry: null,
      quota,
      queue: { isFull: false, awaited: new Map() },
      approval: null,
      refusal: null,
    },
    item,
    nowMs,
  );
  if ('error' in decision) {
    checkRefusal(sim, { key, item, owner }, decision.error);
    return decision.error;
  }
  const isKnown = earlier !== null && nowMs - earlier.atMs < idempotencyTtlMs;
  if ('found' in decision) {
    met(decision.isRepeat ? 'repeat' : 'get or create');
    must(!decision.isRepeat || item.instead !== earlier?.number, () => 'the ending one was answered again');
    if (decision.isRepeat)
      must(isKnown && earlier.bodyHash === item.bodyHash, () => 'repeated what the key did not make');
    else
      must(
        owner?.number === decision.found.number && owner.kind === item.kind && item.getOrCreate,
        () => 'a wrong one was found',
      );
    if (!decision.isRepeat) sim.keys.set(key, { ...decision.found, bodyHash: item.bodyHash, atMs: nowMs });
    return decision.found;
  }
  const isReplaced = earlier?.number === item.instead && earlier?.bodyHash === item.bodyHash;
  must(!isKnown || isReplaced, () => 'a known key made another one');
  must(item.name !== 'job-2', () => 'a reserved name was given');
  must(owner === null || owner.number === item.instead, () => 'a taken name was given');
  met(owner === null ? 'admitted' : 'replaced');
  return create(sim, key, item);
}

function create(sim: Simulation, key: string, item: AdmissionRequest): Found {
  const { admissionId, bodyHash, kind } = item;
  const number = 1_000 + sim.count;
  const found = {
    number,
    name: item.name === '' ? defaultName(kind, number) : item.name,
    admissionId,
    existing: false,
    named: false,
  };
  if (item.name !== '') sim.names.set(item.name, { number, kind, admissionId });
  sim.open.set(number, item);
  sim.keys.set(key, { ...found, bodyHash, atMs: sim.nowMs });
  const { running, instances, vcpus } = useOf(sim);
  must(running <= limits.running && instances <= limits.instances && vcpus <= limits.vcpus, () => 'above the limits');
  return found;
}

function checkRefusal(
  sim: Simulation,
  { key, item, owner }: { key: string; item: AdmissionRequest; owner: NameOwner | null },
  { code }: Problem,
): void {
  const { met } = sim;
  if (code === 'VALIDATION') return must(item.name === 'job-2', () => 'a good name was refused');
  if (code === 'IDEMPOTENCY_MISMATCH') {
    met('other body');
    return must(sim.keys.get(key)?.bodyHash !== item.bodyHash, () => 'the same body was refused');
  }
  if (code === 'NAME_TAKEN') {
    met('name taken');
    return must(owner !== null && (!item.getOrCreate || owner.kind !== item.kind), () => 'a free name was refused');
  }
  must(code === 'LIMIT_EXCEEDED', () => `refused with ${code}`);
  met('limit');
  const { running, instances, vcpus } = useOf(sim);
  const fits =
    running < limits.running && instances + item.instances <= limits.instances && vcpus + item.vcpus <= limits.vcpus;
  must(!fits, () => 'refused although the limits allow it');
}

function release(sim: Simulation, number: number | undefined): void {
  if (number === undefined) return;
  sim.met('released');
  sim.open.delete(number);
  for (const [name, owner] of sim.names) if (owner.number === number) sim.names.delete(name);
}

function useOf({ open }: Simulation): { running: number; instances: number; vcpus: number } {
  const items = [...open.values()];
  return {
    running: items.length,
    instances: items.reduce((sum, { instances }) => sum + instances, 0),
    vcpus: items.reduce((sum, { vcpus }) => sum + vcpus, 0),
  };
}
