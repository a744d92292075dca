// The stages of an instance's start, as a cluster records them.
import { describe, expect, it } from 'vitest';

import { applyLaunch, applyReport } from '../../../domain/cluster/apply.ts';
import { createClusterState } from '../../../domain/cluster/create.ts';
import { intend, planCluster } from '../../../domain/cluster/plan.ts';
import { stagesOf } from '../../../domain/cluster/instance/stages.ts';
import { daskClusterSettings, daskSettings } from '../../builders/dask-settings.ts';

/** Requested at 1 s, launched at 3 s. */
function launched() {
  const cluster = { number: 1, workspace: 'w', user: 'u', createdAtMs: 0 };
  const state = createClusterState(cluster, daskClusterSettings(1, daskSettings));
  const [launch] = planCluster(state, 1_000).decisions;
  if (launch?.kind !== 'launch') throw new Error('the plan does not launch');
  intend(state, launch, 1_000);
  applyLaunch(state, launch.seq, { launched: [{ id: 'i_1', slot: 0, offer: '', zone: '' }], failures: [] }, 3_000);
  const [instance] = state.instances;
  if (instance === undefined) throw new Error('nothing was launched');
  const said = { instance: 'i_1', bootId: 'b', address: '10.0.0.1' };
  return { state, instance, said };
}
const process = { name: 'scheduler', stage: '', address: null, reason: null };

describe('the stages of an instance', () => {
  it('are noted as they are reached, once, and its scheduler’s event names what they took', () => {
    const { state, instance, said } = launched();
    applyReport(state, { ...said, kind: 'register', upForMs: 5_000 }, 20_000);
    applyReport(state, { ...said, kind: 'alive', process: { ...process, state: 'pending' } }, 21_000);
    applyReport(state, { ...said, kind: 'alive', process: { ...process, state: 'starting' } }, 30_000);
    applyReport(state, { ...said, kind: 'alive', process: { ...process, state: 'starting' } }, 31_000);
    const started = { ...process, state: 'started', address: 'tls://10.0.0.1:8786' } as const;
    applyReport(state, { ...said, kind: 'alive', process: started }, 33_000);
    applyReport(state, { ...said, kind: 'alive', process: started }, 40_000);
    expect(stagesOf(instance).map(({ name, atMs }) => [name, atMs])).toEqual([
      ['requested', 1_000],
      ['launched', 3_000],
      ['running', 15_000],
      ['agent', 20_000],
      ['environment', 30_000],
      ['dask', 33_000],
    ]);
    const took = 'launched 2.0 s, running 12.0 s, agent 5.0 s, environment 10.0 s, dask 3.0 s';
    const texts = state.events.flatMap(({ code, text }) =>
      code === 'SCHEDULER_STARTED' || code === 'READY' ? [text] : [],
    );
    expect(texts).toHaveLength(2);
    for (const text of texts) expect(text).toContain(`; it took: ${took}`);
  });

  it('do not take a machine’s age for its start, when it was up before it was asked for', () => {
    const { state, instance, said } = launched();
    applyReport(state, { ...said, kind: 'register', upForMs: 86_400_000 }, 20_000);
    expect(stagesOf(instance).map(({ name }) => name)).toEqual(['requested', 'launched', 'agent']);
  });
});
