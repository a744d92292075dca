// `ropewalk init --new-temporal-namespace` against a real Temporal server that lacks the namespace of the database.
import { join } from 'node:path';

import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';

import { loadHost } from '../../ops/host.ts';
import { claimNamespace } from '../../ops/init/claim.ts';
import { prepareNamespace } from '../../ops/init/namespace.ts';
import { usualSettings } from '../../ops/init/prepare.ts';
import { namespaceOwner } from '../../platform/namespace-claim.ts';
import { openStore } from '../../store/open.ts';
import type { Store } from '../../store/store.ts';
import { type CliResult, runCli } from '../cli/run-cli.ts';
import { aClusterView, addWorkspace, aJobView, opened, startMs } from '../store/fixtures.ts';
import { makeHome, removeHome } from '../support/stack.ts';
import { startTemporal, type TestTemporal } from '../support/temporal-server.ts';

const nothing = { none: async () => undefined };
let temporal: TestTemporal;
let connection: Connection;
const homes: string[] = [];
beforeAll(async () => {
  temporal = await startTemporal({ control: nothing, instances: nothing });
  connection = await Connection.connect({ address: temporal.address });
});
afterAll(async () => {
  await connection?.close();
  await temporal?.stop();
  for (const home of homes) await removeHome(home);
});

interface Deployment {
  store: Store;
  id: string;
  namespace: string;
  job: number;
  slug: string;
  init: (words: string[], over?: { namespace?: string; input?: string }) => Promise<CliResult>;
}

/** Its database knows a namespace that the server never had, with one open job and one open cluster. */
let lost: Deployment;
beforeEach(async () => {
  const home = await makeHome();
  homes.push(home);
  const namespace = `lost-${homes.length}`;
  const { deploymentId } = await loadHost(home);
  const store = await openStore({ url: null, file: join(home, 'ropewalk.db'), migrate: true });
  await store.deployment.claim(deploymentId, startMs);
  await store.deployment.claimTemporalNamespace({ name: namespace, id: 'id-of-lost' });
  const { slug } = await addWorkspace(store);
  const { number } = await opened(store, slug);
  await opened(store, slug, { kind: 'cluster' });
  lost = {
    ...{ store, id: deploymentId, namespace, job: number, slug },
    init: (words, { namespace: other = namespace, input } = {}) =>
      runCli(['init', ...words], {
        env: {
          ...{ ROPEWALK_HOME: home, HOME: home, ROPEWALK_PROVIDERS: 'local' },
          ...{ TEMPORAL_ADDRESS: temporal.address, TEMPORAL_NAMESPACE: other },
        },
        ...(input === undefined ? {} : { input }),
      }),
  };
  return () => store.close();
});

const known = async () => (await lost.store.deployment.read())?.temporalNamespaceId;
const missing = async () => (await lost.store.jobs.listOpen({ after: 0, limit: 10 })).map((row) => row.missingSinceMs);

it('a lost namespace is named with the command, and given up only after the id was typed', async () => {
  const plain = await lost.init([]);
  expect([plain.code, plain.stderr]).toEqual([1, expect.stringContaining('`ropewalk init --new-temporal-namespace`')]);
  const closed = await lost.init(['--new-temporal-namespace']);
  expect([closed.code, closed.stderr]).toEqual([1, expect.stringContaining('not confirmed; nothing was changed')]);
  expect(closed.stderr).toContain(`has no namespace ${lost.namespace} (id id-of-lost) that deployment ${lost.id} uses`);
  expect(closed.stderr).toContain('1 open job and 1 open cluster lose their workflow');
  expect(closed.stderr).toContain('ropewalk destroy --by-tag');
  const wrong = await lost.init(['--new-temporal-namespace'], { input: 'yes\n' });
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('this is not its id; nothing was changed')]);
  expect([await known(), await missing()]).toEqual(['id-of-lost', [null]]);

  const typed = await lost.init(['--new-temporal-namespace'], { input: `${lost.id}\n` });
  expect([typed.code, typed.stdout]).toEqual([
    0,
    expect.stringContaining(
      `forgot the Temporal namespace ${lost.namespace} (id-of-lost): 1 open job and 1 open cluster`,
    ),
  ]);
  expect(typed.stderr).toContain('ropewalk reconcile');
  const { namespaceInfo } = await connection.workflowService.describeNamespace({ namespace: lost.namespace });
  // The next reconciliation needs no grace period.
  expect([await known(), await missing()]).toEqual([namespaceInfo?.id, [0]]);

  const again = await lost.init(['--new-temporal-namespace', '--yes']);
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('nothing is lost; nothing was changed')]);
  expect((await lost.init([])).code).toBe(0);
});

it('another namespace of the same server is entered only when nothing is open in the known one', async () => {
  expect((await lost.init(['--new-temporal-namespace', '--yes'])).code).toBe(0);
  const next = { namespace: `${lost.namespace}-next` };
  const words = ['--new-temporal-namespace', '--yes'];
  const open = await lost.init(words, next);
  expect([open.code, open.stderr]).toEqual([1, expect.stringContaining('with 1 open job and 1 open cluster; nothing')]);
  const { store, slug, job } = lost;
  const view = aJobView(slug, job, { status: 'done', endedAtMs: startMs });
  await store.jobs.end({ view, version: 9, release: true, nowMs: startMs });
  for (const { number } of await store.clusters.listOpen({ after: 0, limit: 10 })) {
    const ended = aClusterView(slug, number, { status: 'stopped', endedAtMs: startMs });
    await store.clusters.end({ view: ended, version: 9, release: true, nowMs: startMs });
  }
  const moved = await lost.init(words, next);
  expect([moved.code, moved.stderr]).toEqual([0, expect.stringContaining('leaves the Temporal namespace')]);
  expect(await store.deployment.read()).toMatchObject({ temporalNamespace: next.namespace });
});

it('an API process that runs, and a namespace of another deployment, are refused', async () => {
  await lost.store.liveness.noteReplica('host_1:7300', 1_000);
  const running = await lost.init(['--new-temporal-namespace', '--yes']);
  expect([running.code, running.stderr]).toEqual([
    1,
    expect.stringContaining('runs (host_1:7300); nothing was changed'),
  ]);
  await lost.store.liveness.removeReplica('host_1:7300');

  await prepareNamespace(connection, lost.namespace, { retentionDays: 30, searchAttributes: [] });
  const client = new Client({ connection, namespace: lost.namespace });
  const other = { host: { hostId: 'host_other', deploymentId: 'dep_other' }, home: '/other' };
  await claimNamespace(client, other, usualSettings.reconcile);
  const foreign = await lost.init(['--new-temporal-namespace', '--yes']);
  expect([foreign.code, foreign.stderr]).toEqual([1, expect.stringContaining('belongs to deployment dep_other')]);
  expect([await known(), await namespaceOwner(client)]).toEqual(['id-of-lost', 'dep_other']);
});
