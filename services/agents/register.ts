// An agent proves that it is an instance of its launch, in a cloud by its signed identity too, and gets the token for its further requests. An agent
// that was away until that token expired returns with it. The cluster decides which process is the instance: the first bootId wins.
import { RopewalkError } from '../../domain/errors.ts';
import { silentAfter } from '../../domain/cluster/instance/suspicion.ts';
import { defaultWatchdogTimeoutMs } from '../../domain/liveness/limits.ts';
import type { RegisterAnswer, RegisterRequest } from '../../schema/agent.ts';
import type { ClusterSpec } from '../../schema/cluster-spec.ts';
import type { JobSpec } from '../../schema/job-spec.ts';
import { clusterWorkflowId } from '../../contracts/cluster.ts';
import type { Deps, LaunchContext } from '../context.ts';
import { proveInstance } from './prove-instance.ts';
import { refusal } from './refusal.ts';
import type { LaunchClaims } from '../../platform/tokens.ts';

export async function registerAgent({ deps, actor }: LaunchContext, input: RegisterRequest): Promise<RegisterAnswer> {
  const { workspace, cluster } = actor;
  try {
    await proveInstance(deps, input, actor.returning ?? null);
  } catch (error) {
    if (actor.returning === undefined) await reportRefusal(deps, actor, input, error);
    throw error;
  }
  // Before the workflow answers: a delayed workflow asks the API whether the agent has tried, and then does not replace its instance.
  deps.heard.interrupt(cluster, input.instance);
  const submitted = await deps.reports.submit(clusterWorkflowId(cluster), {
    instance: input.instance,
    bootId: input.bootId,
    kind: 'register',
    ...(actor.returning === undefined ? { launchSeq: actor.seq } : {}),
    address: input.address,
    text: `agent ${input.version}, process ${input.pid}`,
    ...(input.upForMs === undefined ? {} : { upForMs: input.upForMs }),
    ...(input.publicAddress === undefined ? {} : { publicAddress: input.publicAddress }),
    ...(input.hostname === undefined ? {} : { hostname: input.hostname }),
  });
  if (submitted.kind === 'closed') throw over(cluster);
  if (submitted.kind === 'refused') throw refusal(submitted.problem);
  const { role, clusterName, job, headAddress, orders, stop } = submitted.value;
  if (stop !== null) throw new RopewalkError({ code: 'FORBIDDEN', message: `${stop.code}: ${stop.text}` });
  const token = await deps.tokens.mintInstance({ workspace, cluster, job, instance: input.instance });
  // The instance's certificate contains the address that was just registered.
  deps.views.expire(cluster);
  const schedulerAddress = orders === null ? headAddress : orders.schedulerAddress;
  const spec = await (job === null ? deps.views.clusterSpec(workspace, cluster) : deps.views.jobSpec(workspace, job));
  deps.heard.touch(cluster, input.instance, silentAfter({ dask: daskOf(spec) }));
  const watchdogTimeoutMs = spec?.settings.watchdogTimeoutMs ?? defaultWatchdogTimeoutMs;
  const instanceCredentials = spec?.settings.machines?.instanceCredentials === true;
  const named = { cluster: { number: cluster, name: clusterName, workspace }, job, role, schedulerAddress };
  return { ...token, ...named, watchdogTimeoutMs, instanceCredentials };
}

/** An ended job or cluster has no specification. */
const daskOf = (spec: ClusterSpec | JobSpec | null): ClusterSpec['settings']['dask'] | null =>
  spec !== null && 'dask' in spec.settings ? spec.settings.dask : null;

/** The agent gives up and its machine powers off, so the cluster learns the reason now, not at its register timeout. */
async function reportRefusal(
  deps: Pick<Deps, 'reports' | 'logger'>,
  { cluster, seq: launchSeq }: Pick<LaunchClaims, 'cluster' | 'seq'>,
  { instance, bootId, address }: RegisterRequest,
  error: unknown,
): Promise<void> {
  if (!(error instanceof RopewalkError)) return;
  const { message: text } = error.problem;
  await deps.reports
    .submit(clusterWorkflowId(cluster), { instance, bootId, kind: 'refused', launchSeq, address, text })
    .catch((err: unknown) => deps.logger.warn({ err, cluster, instance }, 'a refused registration was not reported'));
}

const over = (cluster: number) =>
  new RopewalkError({ code: 'NOT_FOUND', message: `Cluster ${cluster} has ended.`, hint: 'This agent should end.' });
