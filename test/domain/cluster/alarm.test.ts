// The alarm of a cluster when most of its instances are silent at once: its beginning and its end.
import { describe, expect, it } from 'vitest';

import { applyLaunch, applyReport } from '../../../domain/cluster/apply.ts';
import { applyInspection, suspectInstances } from '../../../domain/cluster/instance/inspect.ts';
import { createClusterState } from '../../../domain/cluster/create.ts';
import { intend, planCluster } from '../../../domain/cluster/plan.ts';
import { maxSilentInspections } from '../../../domain/cluster/limits.ts';

const secondMs = 1_000;
const ids = ['i_0', 'i_1', 'i_2', 'i_3'];

/** A job's cluster of four registered instances. */
function registered() {
  const state = createClusterState(
    { number: 7, workspace: 'w', user: 'u', createdAtMs: 0 },
    {
      ...{ name: 'c', job: 7, dask: null, instances: ids.length, instanceVcpus: 2, registerTimeoutMs: 600 * secondMs },
      ...{ provider: 'local', providerQueue: 'local' },
    },
  );
  let nowMs = 0;
  const decide = () => {
    const { decisions } = planCluster(state, nowMs);
    for (const decision of decisions) intend(state, decision, nowMs);
    return decisions;
  };
  const report = (id: string, kind: 'register' | 'alive') =>
    applyReport(state, { instance: id, bootId: `boot of ${id}`, kind, address: 'a' }, (nowMs += secondMs));
  decide();
  applyLaunch(state, 1, { launched: ids.map((id, slot) => ({ id, slot, offer: 'o', zone: 'z' })), failures: [] }, 0);
  for (const id of ids) report(id, 'register');
  /** Their job misses these instances, and each inspection finds them existing and silent. */
  const fallSilent = (silent: string[]) => {
    const heardAtMs = nowMs;
    const seen = silent.map((id) => ({ id, state: 'alive' as const }));
    for (let round = 0; round < maxSilentInspections; round += 1) {
      nowMs += 60 * secondMs;
      suspectInstances(
        state,
        silent.map((instance) => ({ instance, heardAtMs })),
        nowMs,
      );
      decide();
      applyInspection(state, { seen, linkWorks: true, heard: [], listeningMs: 3_600_000 }, nowMs);
    }
  };
  return { state, decide, fallSilent, hear: (id: string) => report(id, 'alive') };
}

describe('the event of a suspicion', () => {
  it('names ten instances at most, and says how many more there are', () => {
    const { state } = registered();
    const textOf = (count: number): string | undefined => {
      const suspects = Array.from({ length: count }, (_, index) => ({ instance: `i_x${index}`, heardAtMs: 0 }));
      suspectInstances(state, suspects, 5 * secondMs);
      return state.events.at(-1)?.text;
    };
    const ten = 'i_x0, i_x1, i_x2, i_x3, i_x4, i_x5, i_x6, i_x7, i_x8, i_x9';
    expect(textOf(10)).toBe(`not heard of: ${ten}`);
    expect(textOf(13)).toBe(`not heard of: ${ten} and 3 more`);
  });
});

describe('the alarm about silent instances', () => {
  it('is raised instead of replacing them when they are most of the cluster', () => {
    const { state, decide, fallSilent } = registered();
    expect(state.alarm).toBeNull();
    fallSilent(['i_0', 'i_1', 'i_2']);
    expect(state.alarm).toMatchObject({ code: 'MASS_LOSS' });
    expect(state.alarm?.text).toContain('3 of 4 instances');
    expect(decide().map(({ kind }) => kind)).not.toContain('terminate');
    expect(state.instances.map(({ state: is }) => is)).toEqual(['ready', 'ready', 'ready', 'ready']);
  });

  it('ends with the report that leaves only a minority silent', () => {
    const { state, fallSilent, hear } = registered();
    fallSilent(ids);
    hear('i_0');
    expect(state.alarm).toMatchObject({ code: 'MASS_LOSS' });
    hear('i_1');
    expect(state.alarm).toBeNull();
  });

  it('is raised again when they fall silent again', () => {
    const { state, fallSilent, hear } = registered();
    fallSilent(ids);
    for (const id of ids) hear(id);
    expect(state.alarm).toBeNull();
    fallSilent(ids);
    expect(state.alarm).toMatchObject({ code: 'MASS_LOSS' });
    expect(state.instances.every(({ state: is }) => is === 'ready')).toBe(true);
  });
});
