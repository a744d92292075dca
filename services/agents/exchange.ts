// An agent's exchange with its job: results for leases. New leases are returned with the cluster's data for a task's environment. A lost answer does
// no harm: the agent repeats its claim and gets the same leases.
import { createHash } from 'node:crypto';

import { RopewalkError } from '../../domain/errors.ts';
import type { ExchangeAnswer } from '../../domain/job/protocol.ts';
import { minIdleClaimMs } from '../../domain/job/limits.ts';
import type { ExchangeAnswerBody, ExchangeRequest } from '../../schema/agent.ts';
import type { ClusterView } from '../../contracts/cluster.ts';
import { jobWorkflowId } from '../../contracts/job.ts';
import type { SubmitOptions } from '../group-commit/group-commit.ts';
import type { InstanceContext } from '../context.ts';
import { refusal } from './refusal.ts';
import { renewIfDue } from './renew.ts';

export async function exchangeWork(
  context: InstanceContext,
  { addressesSeen, ...input }: ExchangeRequest,
): Promise<ExchangeAnswerBody> {
  const { deps, actor } = context;
  if (actor.job === null) throw noJob(actor.cluster);
  deps.heard.touch(actor.cluster, actor.instance);
  const submitted = await deps.exchanges.submit(
    jobWorkflowId(actor.job),
    { instance: actor.instance, ...input },
    windowFor(input),
  );
  for (const { exitCode } of input.results) deps.metrics.taskResult(exitCode === 0 ? 'ok' : 'failed');
  if (submitted.kind === 'refused') throw refusal(submitted.problem);
  if (submitted.kind === 'closed') return { ...overAnswer(actor.job), ...unknownCluster, token: null };
  const { gangSize = 0, ...answer } = submitted.value;
  deps.metrics.leasesGranted(answer.grants.length);
  const clusterContext =
    answer.grants.length === 0
      ? unknownCluster
      : await readClusterContext(context, { job: actor.job, seen: addressesSeen, gangSize });
  // The agent's results are acknowledged even when its cluster has given it up; its next report is refused.
  return { ...answer, ...clusterContext, token: await renewIfDue(context).catch(() => null) };
}

type ClusterContext = Pick<
  ExchangeAnswerBody,
  'taskCount' | 'schedulerAddress' | 'schedulerHostname' | 'readyWorkers' | 'addresses'
>;

/** Only new leases need it. */
const unknownCluster: ClusterContext = {
  taskCount: 0,
  schedulerAddress: null,
  schedulerHostname: null,
  readyWorkers: [],
};
const clusterMaxAgeMs = 5_000;

async function readClusterContext(
  { deps, actor }: InstanceContext,
  { job, seen, gangSize }: { job: number; seen: string | undefined; gangSize: number },
): Promise<ClusterContext> {
  const readCluster = (maxAgeMs: number) => deps.views.clusterOfAgent(actor.workspace, actor.cluster, maxAgeMs);
  const [known, { tasks }] = await Promise.all([
    readCluster(clusterMaxAgeMs),
    deps.views.jobOfAgent(actor.workspace, job),
  ]);
  // All instances have made a claim by now, so a view without one of them is outdated.
  const cluster = readyOf(known).length < gangSize ? await readCluster(0) : known;
  const addresses = addressesOf(cluster);
  const taskCount = tasks.total;
  return addresses.addresses === seen ? { ...unknownCluster, taskCount, addresses: seen } : { taskCount, ...addresses };
}

type Addresses = Omit<ClusterContext, 'taskCount'> & { addresses: string };

const readyOf = ({ instances }: ClusterView) =>
  instances.filter(({ state, address }) => state === 'ready' && address !== null);

/** A thousand agents need the same view of the same thousand instances. */
const addresses = new WeakMap<ClusterView, Addresses>();

function addressesOf(view: ClusterView): Addresses {
  const known = addresses.get(view);
  if (known !== undefined) return known;
  const ready = readyOf(view);
  const head = ready.find(({ role }) => role === 'head');
  const found = withMark({
    schedulerAddress: head?.address ?? null,
    schedulerHostname: head?.hostname ?? null,
    readyWorkers: ready.filter(({ role }) => role === 'worker').flatMap(({ address }) => address ?? []),
  });
  addresses.set(view, found);
  return found;
}

/** An agent with these addresses sends their tag, which saves writing 15 kB a thousand times. */
function withMark(found: Omit<Addresses, 'addresses'>): Addresses {
  const hash = createHash('sha256').update(JSON.stringify(found)).digest('base64url');
  return { ...found, addresses: hash.slice(0, markLength) };
}

const markLength = 22;

/** The waiting time of the group commit follows from the duration of tasks and from the agent's remaining leases. */
function windowFor({ results, held = [], returned = [] }: ExchangeRequest): SubmitOptions {
  if (results.length === 0) return {};
  const totalMs = results.reduce((sum, { startedAtMs, endedAtMs }) => sum + Math.max(0, endedAtMs - startedAtMs), 0);
  const taskMs = totalMs / results.length;
  // Other agents wait for returned leases.
  const inHandMs = returned.length > 0 ? 0 : held.length * taskMs;
  return { taskMs, patienceMs: Math.min(maxPatienceMs, inHandMs / 2) };
}

/** An agent with this much remaining work does not notice that its exchange waits for others. */
const maxPatienceMs = 150;

const overAnswer = (job: number): ExchangeAnswer => ({
  grants: [],
  acknowledged: [],
  drop: [],
  stop: { code: 'JOB_OVER', text: `Job ${job} has ended.` },
  retryAfterMs: minIdleClaimMs,
  renewWithinMs: minIdleClaimMs,
  mayHold: 1,
});

const noJob = (cluster: number) =>
  new RopewalkError({
    code: 'FORBIDDEN',
    message: `Cluster ${cluster} works for no job: there is nothing to exchange.`,
  });
