// The sweep's workflow on a real Temporal server, with its real activities for workflows and memory, and a scripted provider: its
// memory from run to run, and its handling of errors.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { ApplicationFailure } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { createSweepActivities } from '../../activities/sweep.ts';
import type { SweepActivities } from '../../contracts/activities.ts';
import type { Owner } from '../../domain/owner.ts';
import type { SweepObservation } from '../../domain/sweep/state.ts';
import { bundleKey, caKey, sealedPrefix } from '../../platform/archive-keys.ts';
import { createDirectoryObjects } from '../../platform/objects/directory.ts';
import { createVault } from '../../platform/vault/vault.ts';
import { clusterWorkflowId } from '../../contracts/cluster.ts';
import { controlQueue } from '../../contracts/flush.ts';
import { type SweepInput, type SweepReport, sweepType } from '../../contracts/sweep.ts';
import { sharedTemporal } from '../support/shared-temporal.ts';
import { claimNamespace, type TestTemporal } from '../support/temporal-server.ts';
import { testKeys } from '../platform/support.ts';

const own = 'dep_own';
const memoryFile = ['sweep', 'local.test.json'];

describe('a sweep', () => {
  let temporal: TestTemporal;
  let objects: string;
  let real: SweepActivities;
  let instances: SweepObservation['instances'] = [];
  let resources: SweepObservation['resources'] = [];
  let unlisted: { unlisted?: string } = {};
  let terminated: string[] = [];
  let removed: string[] = [];
  const stuck = 13;
  beforeAll(async () => {
    objects = await mkdtemp(join(tmpdir(), 'ropewalk-sweep-'));
    temporal = await sharedTemporal({
      control: {
        describeClusters: (input: { numbers: number[] }) => real.describeClusters(input),
        removeExpiredSealed: () => real.removeExpiredSealed(),
        readSightings: (input: { memory: string }) => real.readSightings(input),
        writeSightings: (input: Parameters<SweepActivities['writeSightings']>[0]) => real.writeSightings(input),
      },
      instances: {
        listInstances: async () => ({ instances, resources, ...unlisted }),
        deleteResources: async ({ ids }: { ids: string[] }) => {
          removed.push(...ids);
        },
        terminateInstances: async ({ owner, ids }: { owner: Owner; ids: string[] }) => {
          if (owner.cluster === stuck) throw ApplicationFailure.nonRetryable('the cloud says no');
          terminated.push(...ids);
        },
      },
    });
    real = createSweepActivities({ client: temporal.client, objects: createDirectoryObjects(objects) });
    // No Temporal worker polls this queue: the workflows are open until the test ends them.
    await claimNamespace(temporal.client, own);
    for (const number of [1, 2]) await startOpen(clusterWorkflowId(number));
  });
  beforeEach(() => {
    terminated = [];
    removed = [];
    resources = [];
    unlisted = {};
  });
  afterAll(async () => {
    await temporal?.stop();
    await rm(objects, { recursive: true, force: true });
  });

  const startOpen = async (workflowId: string): Promise<void> => {
    await temporal.client.workflow.start('nothing', { workflowId, taskQueue: 'no worker', args: [] });
  };
  let runs = 0;
  const sweep = (options: Partial<SweepInput> = {}): Promise<SweepReport> =>
    temporal.client.workflow.execute<(input: SweepInput) => Promise<SweepReport>>(sweepType, {
      workflowId: `test-sweep-${++runs}`,
      taskQueue: controlQueue,
      args: [
        { deploymentId: own, provider: 'local', providerQueue: 'local/test', graceMs: 1, dryRun: false, ...options },
      ],
    });
  const verdictsOf = ({ verdicts }: SweepReport): Record<string, string> =>
    Object.fromEntries(verdicts.map(({ id, verdict }) => [id, verdict]));
  const instance = (id: string, cluster: number): SweepObservation['instances'][number] => ({
    id,
    owner: { deploymentId: own, workspace: 'w', cluster },
    launchedAtMs: 1,
  });

  it('remembers from run to run, ends what stays unowned, and is not held up by one that will not end', async () => {
    instances = [instance('i_open', 1), instance('i_closed', 2), instance('i_unheard', 3), instance('i_stuck', stuck)];
    await temporal.client.workflow.getHandle(clusterWorkflowId(2)).terminate();
    const first = await sweep();
    expect(verdictsOf(first)).toEqual({
      ...{ i_open: 'owned', i_closed: 'suspected', i_unheard: 'suspected', i_stuck: 'suspected' },
    });
    expect(terminated).toEqual([]);

    const dry = await sweep({ dryRun: true });
    expect(verdictsOf(dry)).toMatchObject({ i_open: 'owned', i_closed: 'orphan' });
    expect([dry.terminated, terminated]).toEqual([[], []]);

    const second = await sweep();
    expect(terminated.toSorted()).toEqual(['i_closed', 'i_unheard']);
    expect(second.terminated.toSorted()).toEqual(terminated.toSorted());
    expect(second.failed).toMatchObject([{ ids: ['i_stuck'], text: 'the cloud says no' }]);
    // An instance that could not be terminated is still an orphan; a terminated one is forgotten.
    instances = [instance('i_stuck', stuck)];
    expect(verdictsOf(await sweep())).toEqual({ i_stuck: 'orphan' });
  });

  it('deletes what was sealed and has been expired for a week, unless it only looks', async () => {
    const store = createDirectoryObjects(objects);
    const daysAgo = (days: number) => createVault(store, testKeys(), () => Date.now() - days * 86_400_000);
    const [gone, expired, alive] = [caKey('w', 'adm_a'), bundleKey('w', 'adm_b'), bundleKey('w', 'adm_c')];
    for (const [key, days] of [[gone, 9] as const, [expired, 7] as const, [alive, 0] as const]) {
      await daysAgo(days).seal(key, Buffer.from('x'), { ttlMs: 86_400_000 });
    }
    instances = [];
    await sweep({ dryRun: true });
    expect(await store.list(sealedPrefix, { limit: 10 })).toEqual([gone, expired, alive]);
    await sweep();
    expect(await store.list(sealedPrefix, { limit: 10 })).toEqual([expired, alive]);
  });

  it('removes what instances have left behind once none is there, and sweeps instances where nothing else can be listed', async () => {
    const resource = (id: string, cluster: number, createdAtMs = 1): SweepObservation['resources'][number] => ({
      ...{ id, kind: 'volume', createdAtMs, owner: { deploymentId: own, workspace: 'w', cluster } },
    });
    instances = [instance('i_last', 7)];
    resources = [resource('v_open', 1), resource('v_last', 7), resource('v_left', 8)];
    resources.push(resource('v_new', 8, Date.now() - 60_000));
    const first = await sweep();
    expect(verdictsOf(first)).toEqual({
      ...{ i_last: 'suspected', v_open: 'owned', v_last: 'needed', v_left: 'suspected', v_new: 'young' },
    });
    const second = await sweep();
    expect([second.terminated, second.removed]).toEqual([['i_last'], ['v_left']]);
    instances = [];
    resources = [resource('v_last', 7)];
    await sweep();
    expect((await sweep()).removed).toEqual(['v_last']);
    expect(removed).toEqual(['v_left', 'v_last']);

    instances = [instance('i_alone', 9)];
    resources = [];
    unlisted = { unlisted: 'you may not list volumes' };
    await sweep();
    expect(await sweep()).toMatchObject({ terminated: ['i_alone'], ...unlisted });
  });

  it('changes its memory in no dry run', async () => {
    instances = [instance('i_new', 4)];
    expect(verdictsOf(await sweep({ dryRun: true }))).toEqual({ i_new: 'suspected' });
    expect(verdictsOf(await sweep())).toEqual({ i_new: 'suspected' });
  });

  it('begins anew when its memory cannot be read', async () => {
    instances = [instance('i_5', 5)];
    await sweep();
    for (const damaged of ['', '{', 'null', '[1]', '{"v":1,"sightings":[{"id":7},null]}']) {
      await writeFile(join(objects, ...memoryFile), damaged);
      expect(verdictsOf(await sweep({ dryRun: true }))).toEqual({ i_5: 'suspected' });
    }
    expect(terminated).toEqual([]);
  });

  it('ends nothing, and forgets what it saw, for another deployment than the namespace’s', async () => {
    instances = [instance('i_6', 6)];
    await sweep();
    const stranger = await sweep({ deploymentId: 'dep_other' });
    expect(stranger).toMatchObject({ verdicts: [], terminated: [] });
    expect(stranger.refusal).toContain(`belongs to deployment ${own}, not to dep_other`);
    expect(verdictsOf(await sweep())).toEqual({ i_6: 'suspected' });
    expect(terminated).toEqual([]);
  });

  it('calls a cluster that cannot be described unknown, and terminates nothing until a later sweep can describe it', async () => {
    const broken = createSweepActivities({
      client: new Proxy<Client>(temporal.client, { get: brokenGet }),
      objects: createDirectoryObjects(objects),
    });
    instances = [instance('i_7', 7)];
    await sweep();
    const working = real;
    real = broken;
    const { refusal } = await sweep();
    real = working;
    expect(refusal).toContain('is unknown');
    expect(terminated).toEqual([]);
    // The outage proved nothing: earlier sightings still count.
    expect((await sweep()).terminated).toEqual(['i_7']);
  });
});

/** A client whose calls all fail, as when the server is unavailable. */
function brokenGet(target: Client, name: string | symbol): unknown {
  if (name === 'withDeadline') return () => Promise.reject(new Error('14 UNAVAILABLE'));
  return Reflect.get(target, name);
}
