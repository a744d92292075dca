// Instances that have not registered in time, possibly because of a control plane outage.
import { describe, expect, it } from 'vitest';

import { applyLaunch, applyReport, applyTerminated, type Report } from '../../../domain/cluster/apply.ts';
import { applyInspection, suspectInstances } from '../../../domain/cluster/instance/inspect.ts';
import { createClusterState } from '../../../domain/cluster/create.ts';
import { intend, planCluster } from '../../../domain/cluster/plan.ts';
import type { ClusterState } from '../../../domain/cluster/state.ts';
import {
  describeUnregisteredAfterMs,
  registrationRecheckMs,
  registerTimeoutMs,
} from '../../../domain/cluster/limits.ts';

function launched(): ClusterState {
  const settings = {
    ...{ name: 'c', job: 7, instances: 2, provider: 'local', providerQueue: 'local/a', instanceVcpus: 1 },
    ...{ registerTimeoutMs, dask: null },
  };
  const state = createClusterState({ number: 7, workspace: 'default', user: 'u', createdAtMs: 0 }, settings);
  pass(state, 0, { apiAnswers: true });
  return state;
}

/** Carries out decisions until there are none, all at that time; returns their kinds. */
function pass(
  state: ClusterState,
  nowMs: number,
  { apiAnswers, heardAtMs }: { apiAnswers: boolean; heardAtMs?: number },
): string[] {
  const kinds: string[] = [];
  for (let { decisions } = planCluster(state, nowMs); decisions.length > 0; { decisions } = planCluster(state, nowMs)) {
    for (const decision of decisions) {
      kinds.push(decision.kind);
      intend(state, decision, nowMs);
      if (decision.kind === 'terminate') applyTerminated(state, decision.ids, nowMs);
      if (decision.kind === 'inspect') {
        const seen = decision.ids.map((id) => ({ id, state: 'alive' as const }));
        const heard =
          heardAtMs === undefined ? [] : decision.ids.map((instance) => ({ instance, heardAtMs, sinceMs: heardAtMs }));
        applyInspection(state, { seen, linkWorks: apiAnswers, heard, listeningMs: 3_600_000 }, nowMs);
      }
      if (decision.kind === 'launch') {
        const made = decision.slots.map(({ slot, generation }) => ({ id: `i-${slot}-${generation}`, slot }));
        const places = made.map((each) => ({ ...each, offer: 'local', zone: 'here' }));
        applyLaunch(state, decision.seq, { launched: places, failures: [] }, nowMs);
      }
    }
  }
  return kinds;
}

const registration = (id: string): Report => ({ instance: id, bootId: id, kind: 'register', address: 'a' });

describe('an instance that has not registered in time', () => {
  it('is given up after two checks during which the API answered', () => {
    const state = launched();
    expect(pass(state, registerTimeoutMs, { apiAnswers: true })).toEqual(['inspect']);
    const wakeAtMs = planCluster(state, registerTimeoutMs).wakeAtMs;
    expect(wakeAtMs).toBe(registerTimeoutMs + registrationRecheckMs);
    expect(pass(state, wakeAtMs ?? 0, { apiAnswers: true })).toContain('terminate');
    expect(state.failures).toMatchObject({ NEVER_REGISTERED: { count: 2 } });
  });

  it('is kept through an outage of the API, however long, and registers after it', () => {
    const state = launched();
    let nowMs = registerTimeoutMs;
    for (; nowMs < 15 * 60_000; nowMs = planCluster(state, nowMs).wakeAtMs ?? Infinity) {
      expect(pass(state, nowMs, { apiAnswers: false })).toEqual(['inspect']);
    }
    pass(state, nowMs, { apiAnswers: true });
    for (const { id } of state.instances) expect(applyReport(state, registration(id), nowMs + 1)).toBe('accepted');
    pass(state, nowMs + 10 * registrationRecheckMs, { apiAnswers: true });
    expect([state.instances.map(({ state: is }) => is), state.failures, state.launched]).toEqual([
      ['ready', 'ready'],
      {},
      2,
    ]);
  });

  it('registers after an outage of Temporal, although its deadline passed in it', () => {
    const state = launched();
    // All timers fire at once when Temporal recovers, and the registration arrives a moment later.
    const backMs = registerTimeoutMs + 14 * 60_000;
    expect(pass(state, backMs, { apiAnswers: true })).toEqual(['inspect']);
    for (const { id } of state.instances) expect(applyReport(state, registration(id), backMs + 1)).toBe('accepted');
    expect(state.instances.map(({ state: is }) => is)).toEqual(['ready', 'ready']);
  });

  it('is kept while the API hears its agent try, however late the workflow learns of it', () => {
    const state = launched();
    let nowMs = registerTimeoutMs;
    for (let check = 1; check <= 20; check += 1) {
      // The API's clock is an hour behind.
      const heardAtMs = nowMs - 3_600_000;
      expect(pass(state, nowMs, { apiAnswers: true, heardAtMs })).toEqual(['inspect']);
      nowMs = planCluster(state, nowMs).wakeAtMs ?? Infinity;
    }
    expect([state.launched, state.failures]).toEqual([2, {}]);
  });

  it('is given up when its agent has tried, and tries no more', () => {
    const state = launched();
    const heardAtMs = registerTimeoutMs - 1;
    const inspected: string[][] = [];
    let nowMs = registerTimeoutMs;
    for (let check = 1; check <= 3; check += 1) {
      inspected.push(pass(state, nowMs, { apiAnswers: true, heardAtMs }));
      nowMs = planCluster(state, nowMs).wakeAtMs ?? Infinity;
    }
    expect(inspected.slice(0, 2)).toEqual([['inspect'], ['inspect']]);
    expect(inspected[2]).toContain('terminate');
  });

  it('is given up at once when its provider says that it has ended', () => {
    const state = launched();
    const [decision] = planCluster(state, registerTimeoutMs).decisions;
    if (decision?.kind !== 'inspect') throw new Error('no inspection');
    intend(state, decision, registerTimeoutMs);
    const seen = decision.ids.map((id) => ({ id, state: 'gone' as const }));
    applyInspection(state, { seen, linkWorks: false, heard: [], listeningMs: 0 }, registerTimeoutMs);
    const kinds = planCluster(state, registerTimeoutMs).decisions.map(({ kind }) => kind);
    expect(kinds).toEqual(['notifyJob', 'terminate']);
  });
});

describe('an instance that was terminated by request before it registered', () => {
  const inspect = (state: ClusterState, nowMs: number, seen: 'alive' | 'gone', wasOrdered = false): void => {
    const { decisions } = planCluster(state, nowMs);
    for (const decision of decisions) intend(state, decision, nowMs);
    const ids = decisions.flatMap((decision) => (decision.kind === 'inspect' ? decision.ids : []));
    expect(ids).toEqual(['i-0-1', 'i-1-1']);
    const described = ids.map((id) => ({ id, state: seen, ...(wasOrdered ? { wasOrdered } : {}) }));
    applyInspection(state, { seen: described, linkWorks: true, heard: [], listeningMs: 3_600_000 }, nowMs);
  };
  const suspects = ['i-0-1', 'i-1-1'].map((instance) => ({ instance, heardAtMs: 0 }));

  it('is replaced at once, and counts as no failure', () => {
    const state = launched();
    for (let nth = 0; nth < 6; nth += 1) {
      const ids = state.instances.map(({ id }) => id);
      suspectInstances(
        state,
        ids.map((instance) => ({ instance, heardAtMs: 0 })),
        1_000 * nth,
      );
      for (let { decisions } = planCluster(state, 1_000 * nth); decisions.length > 0;) {
        for (const decision of decisions) {
          intend(state, decision, 1_000 * nth);
          if (decision.kind === 'terminate') applyTerminated(state, decision.ids, 1_000 * nth);
          if (decision.kind === 'inspect') {
            const seen = decision.ids.map((id) => ({ id, state: 'gone' as const, wasOrdered: true }));
            applyInspection(state, { seen, linkWorks: true, heard: [], listeningMs: 3_600_000 }, 1_000 * nth);
          }
          if (decision.kind === 'launch') {
            const made = decision.slots.map(({ slot, generation }) => ({ id: `i-${slot}-${generation}`, slot }));
            const places = made.map((each) => ({ ...each, offer: 'local', zone: 'here' }));
            applyLaunch(state, decision.seq, { launched: places, failures: [] }, 1_000 * nth);
          }
        }
        ({ decisions } = planCluster(state, 1_000 * nth));
      }
      expect(state.instances.map(({ state: each }) => each)).toEqual(['starting', 'starting']);
      expect(state.instances.some(({ id }) => ids.includes(id))).toBe(false);
    }
    expect(state.failures).toEqual({});
  });

  it('has its time to register when it turns out to be alive', () => {
    const state = launched();
    for (let nth = 1; nth <= 5; nth += 1) {
      suspectInstances(state, suspects, nth * 1_000);
      inspect(state, nth * 1_000, 'alive');
    }
    expect(state.instances.map(({ state: each }) => each)).toEqual(['starting', 'starting']);
    expect(planCluster(state, 6_000)).toMatchObject({ decisions: [], wakeAtMs: describeUnregisteredAfterMs });
  });

  it('has failed when it ended by itself', () => {
    const state = launched();
    suspectInstances(state, suspects, 1_000);
    inspect(state, 1_000, 'gone');
    expect(pass(state, 1_000, { apiAnswers: true })).toContain('terminate');
    expect(state.failures).toMatchObject({ ENDED_WHILE_STARTING: { count: 2 } });
  });
});
