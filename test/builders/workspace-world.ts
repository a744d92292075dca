// A simulated world of one workspace: many callers with few names and keys, who repeat what they asked for; releases,
// starts that fail, limits that change, number blocks that come late or twice.
import fc from 'fast-check';

import { idempotencyTtlMs, startBatchSize } from '../../domain/limits.ts';
import type { AdmitAnswer, AdmitItem, WorkspaceState } from '../../domain/workspace/state.ts';
import type { WorkspaceRules } from './rules.ts';
import { type CheckOptions, checkWorlds, type Met, must, pick, same } from './worlds.ts';

const subjects = [
  'admitted',
  'repeat',
  'other body',
  'name taken',
  'limit',
  'no numbers',
  'release',
  'get or create',
  'many at once',
] as const;
type Subject = (typeof subjects)[number];

/** Runs many worlds against the rules; throws when one breaks them. */
export function checkWorkspaceWorlds(rules: WorkspaceRules, options: CheckOptions): Record<string, number> {
  const run = (plan: WorkspacePlan, met: Met<Subject>): void => runWorkspaceWorld(rules, plan, met);
  return checkWorlds({ plan: workspacePlan, subjects, run }, options);
}

interface WorkspaceWorld {
  rules: WorkspaceRules;
  state: WorkspaceState;
  nowMs: number;
  asked: number;
  nextBlock: number;
  /** Every number ever given to a new holder. */
  given: Set<number>;
  /** What a key made, and when. */
  keys: Map<string, { number: number; bodyHash: string; atMs: number }>;
  met: Met<Subject>;
}

const request = fc.record({
  do: fc.constant('admit'),
  key: fc.nat(12),
  body: fc.constantFrom('one', 'one', 'one', 'other'),
  name: fc.constantFrom('', '', '', 'weather', 'night', 'job-2'),
  getOrCreate: fc.boolean(),
  kind: fc.constantFrom('job', 'job', 'cluster'),
  instances: fc.integer({ min: 1, max: 4 }),
});
const step = fc.oneof(
  { weight: 40, arbitrary: request },
  { weight: 12, arbitrary: fc.record({ do: fc.constant('release'), holder: fc.nat(5) }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('start'), succeeds: fc.boolean() }) },
  { weight: 10, arbitrary: fc.record({ do: fc.constant('spare'), size: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('limits'), running: fc.nat(8), instances: fc.nat(16) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('wait'), ms: fc.constantFrom(1_000, idempotencyTtlMs) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('roll') }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
type Request = typeof request extends fc.Arbitrary<infer T> ? T : never;

const workspacePlan = fc.record({
  firstBlock: fc.integer({ min: 1, max: 5 }),
  /** Callers that all come at once, in the middle of it all. */
  crowd: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 100),
  steps: fc.array(step, { minLength: 10, maxLength: 40, size: 'max' }),
});
type WorkspacePlan = typeof workspacePlan extends fc.Arbitrary<infer T> ? T : never;

function runWorkspaceWorld(rules: WorkspaceRules, plan: WorkspacePlan, met: Met<Subject>): void {
  const block = { next: 1, end: plan.firstBlock };
  const state = rules.createWorkspaceState({ slug: 'w', deploymentId: 'd', createdAtMs: 0, block });
  rules.configure(state, { running: 6, instances: 12, vcpus: 20 }, { nowMs: 0 });
  const nextBlock = plan.firstBlock + 1;
  const world: WorkspaceWorld = {
    rules,
    state,
    nowMs: 1,
    asked: 0,
    nextBlock,
    given: new Set(),
    keys: new Map(),
    met,
  };
  for (const [n, each] of plan.steps.entries()) {
    if (n === 5 && plan.crowd > 0) many(world, plan.crowd);
    take(world, each);
    checkHolders(world);
  }
}

function take(world: WorkspaceWorld, each: Step): void {
  const { rules, state } = world;
  if (each.do === 'admit') return ask(world, each);
  if (each.do === 'release') return release(world, pick(state.holders, each.holder)?.number);
  if (each.do === 'start') return start(world, each.succeeds);
  if (each.do === 'spare') return leaseSpare(world, each.size);
  if (each.do === 'limits') {
    rules.configure(state, { running: each.running, instances: each.instances }, { nowMs: world.nowMs });
    return must(state.limits.vcpus === 20, () => 'a limit that was not named has changed');
  }
  if (each.do === 'wait') world.nowMs += each.ms;
  if (each.do !== 'roll') return;
  const copy: WorkspaceState = JSON.parse(JSON.stringify(state));
  must(same(Object.keys(copy), Object.keys(state)), () => 'the state is not plain JSON');
  world.state = copy;
}

function ask(world: WorkspaceWorld, { key, body, name, getOrCreate, kind, instances }: Request): void {
  world.asked += 1;
  const item: AdmitItem = {
    admissionId: `adm_${world.asked}`,
    idempotencyKey: `u/${key}`,
    bodyHash: body,
    kind: kind === 'cluster' ? 'cluster' : 'job',
    name,
    getOrCreate,
    specRef: 's',
    user: 'u',
    instances,
    vcpus: 2 * instances,
  };
  const answer = admit(world, item);
  // The caller did not hear the answer and asks the same again.
  const again = world.rules.admit(world.state, item, world.nowMs);
  const isAsBefore = 'ok' in answer ? 'ok' in again && again.ok.number === answer.ok.number : same(answer, again);
  must(isAsBefore, () => `asked twice: ${JSON.stringify(answer)}, then ${JSON.stringify(again)}`);
}

/** Admits, and checks the answer against what this world knows. */
function admit(world: WorkspaceWorld, item: AdmitItem): AdmitAnswer {
  const { rules, state, nowMs, met } = world;
  const before = JSON.stringify(state);
  const holders = [...state.holders];
  const answer = rules.admit(state, item, nowMs);
  const earlier = world.keys.get(item.idempotencyKey);
  if (earlier !== undefined && nowMs - earlier.atMs < idempotencyTtlMs) {
    met(earlier.bodyHash === item.bodyHash ? 'repeat' : 'other body');
    must(before === JSON.stringify(state), () => 'a repeat changed the state');
    const code = 'error' in answer ? answer.error.code : answer.ok.number;
    const expected = earlier.bodyHash === item.bodyHash ? earlier.number : 'IDEMPOTENCY_MISMATCH';
    must(code === expected, () => `a known key was answered ${code} instead of ${expected}`);
    return answer;
  }
  const named = item.name === '' ? undefined : holders.find((holder) => holder.name === item.name);
  if ('error' in answer) {
    must(before === JSON.stringify(state), () => 'a refusal changed the state');
    checkRefusal(world, item, named !== undefined, answer.error.code);
    return answer;
  }
  world.keys.set(item.idempotencyKey, { number: answer.ok.number, bodyHash: item.bodyHash, atMs: nowMs });
  if (named !== undefined) {
    met('get or create');
    must(item.getOrCreate && answer.ok.existing && answer.ok.number === named.number, () => 'a taken name was given');
    must(same(holders, state.holders), () => 'an existing holder was reserved again');
    return answer;
  }
  met('admitted');
  must(!answer.ok.existing && !world.given.has(answer.ok.number), () => `number ${answer.ok.number} was given twice`);
  world.given.add(answer.ok.number);
  must(state.holders.at(-1)?.number === answer.ok.number, () => 'nothing was reserved');
  checkLimits(world);
  return answer;
}

function checkRefusal(world: WorkspaceWorld, item: AdmitItem, isNamed: boolean, code: string): void {
  const { state, met } = world;
  if (code === 'VALIDATION') return must(item.name === 'job-2', () => 'a good name was refused');
  if (code === 'NAME_TAKEN') {
    met('name taken');
    return must(isNamed, () => 'a free name was refused');
  }
  if (code === 'UNAVAILABLE') {
    met('no numbers');
    return must(state.spare === null && state.block.next > state.block.end, () => 'numbers are left');
  }
  must(code === 'LIMIT_EXCEEDED', () => `refused with ${code}`);
  met('limit');
  const { running, instances, vcpus } = use(state);
  const fits =
    running + 1 <= state.limits.running &&
    instances + item.instances <= state.limits.instances &&
    vcpus + item.vcpus <= state.limits.vcpus;
  must(!fits, () => 'refused although the limits allow it');
}

function use(state: WorkspaceState): { running: number; instances: number; vcpus: number } {
  const instances = state.holders.reduce((sum, holder) => sum + holder.instances, 0);
  const vcpus = state.holders.reduce((sum, holder) => sum + holder.vcpus, 0);
  return { running: state.holders.length, instances, vcpus };
}

function checkLimits({ state }: WorkspaceWorld): void {
  const { running, instances, vcpus } = use(state);
  const { limits } = state;
  const isWithin = running <= limits.running && instances <= limits.instances && vcpus <= limits.vcpus;
  must(
    isWithin,
    () => `${running} open with ${instances} instances and ${vcpus} vCPUs: above ${JSON.stringify(limits)}`,
  );
}

function checkHolders({ state, given }: WorkspaceWorld): void {
  const names = state.holders.map((holder) => holder.name);
  must(new Set(names).size === names.length, () => `names are taken twice: ${String(names)}`);
  must(
    names.every((name) => name !== ''),
    () => 'a holder without a name',
  );
  must(
    state.holders.every((holder) => given.has(holder.number)),
    () => 'a holder whose number nobody was given',
  );
  must(state.admitted === given.size, () => 'admissions are miscounted');
}

function release(world: WorkspaceWorld, number: number | undefined): void {
  if (number === undefined) return;
  world.met('release');
  const others = world.state.holders.filter((holder) => holder.number !== number);
  for (const times of ['once', 'twice']) {
    world.rules.release(world.state, number);
    must(same(world.state.holders, others), () => `released ${times}: another holder went, or this one stayed`);
  }
}

/** A start that fails is tried again; one that was answered already is not started twice. */
function start({ rules, state }: WorkspaceWorld, succeeds: boolean): void {
  const reserved = (): number[] =>
    state.holders.filter((holder) => holder.state === 'reserved').map((holder) => holder.number);
  const waiting = reserved();
  const taken = rules.takeStartable(state).map((holder) => holder.number);
  const due = waiting.slice(0, startBatchSize);
  must(same(taken, due), () => `starts ${String(taken)} instead of ${String(due)}`);
  must(!reserved().some((number) => taken.includes(number)), () => 'a reservation can be started twice');
  for (const number of [...taken, ...taken]) rules.noteStart(state, number, succeeds);
  const expected = succeeds ? 'running' : 'reserved';
  const started = state.holders.filter((holder) => taken.includes(holder.number));
  must(
    started.every((holder) => holder.state === expected),
    () => 'a start was not noted',
  );
}

/** The answer of a lease may come twice, and late. */
function leaseSpare(world: WorkspaceWorld, size: number): void {
  const { rules, state } = world;
  if (!rules.needsSpare(state)) return;
  const seq = state.leaseSeq;
  const block = { from: world.nextBlock, to: world.nextBlock + size - 1 };
  world.nextBlock += size;
  rules.addSpare(state, seq, block);
  must(!rules.needsSpare(state), () => 'the spare did not arrive');
  const once = JSON.stringify(state);
  rules.addSpare(state, seq, block);
  state.spare = state.spare === null ? null : { ...state.spare };
  must(once === JSON.stringify(state), () => 'a spare that came twice was taken twice');
}

/** A hundred callers, each of whom asks twice, in any order: none gets two numbers, no two get one. */
function many(world: WorkspaceWorld, count: number): void {
  const { rules, state } = world;
  world.met('many at once');
  rules.configure(state, { running: 1_000, instances: 1_000, vcpus: 2_000 }, { nowMs: world.nowMs });
  const block = { from: world.nextBlock, to: world.nextBlock + 2 * count };
  if (rules.needsSpare(state)) {
    world.nextBlock += 2 * count + 1;
    rules.addSpare(state, state.leaseSeq, block);
  }
  const numbers = new Map<string, number>();
  for (let n = 0; n < 2 * count; n += 1) {
    const caller = (n * 7) % count;
    const admissionId = `many_${world.nowMs}_${world.asked}_${caller}`;
    const item: AdmitItem = {
      admissionId,
      idempotencyKey: admissionId,
      bodyHash: 'many',
      kind: 'job',
      name: '',
      getOrCreate: false,
      specRef: 's',
      user: 'u',
      instances: 1,
      vcpus: 1,
    };
    const answer = admit(world, item);
    if ('error' in answer) continue;
    const before = numbers.get(admissionId) ?? answer.ok.number;
    must(before === answer.ok.number, () => `${admissionId} got ${before} and ${answer.ok.number}`);
    numbers.set(admissionId, answer.ok.number);
  }
  must(new Set(numbers.values()).size === numbers.size, () => 'two callers got one number');
  rules.configure(state, { running: 6, instances: 12, vcpus: 20 }, { nowMs: world.nowMs });
}
