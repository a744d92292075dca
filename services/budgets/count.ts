// Counts the spending of workspaces with budgets, and signals clusters to launch nothing more, or to stop. Every replica does so; no replica repeats
// a count within the interval. The next count repeats a lost signal, because a row records only delivered signals.
import { clusterMessages, clusterWorkflowId, type HoldSignal, type StopSignal } from '../../contracts/cluster.ts';
import { jobMessages, jobWorkflowId, type CancelSignal } from '../../contracts/job.ts';
import { countEveryMs } from '../../domain/budget/budget.ts';
import { countSinceMs, createCount, type Verdict } from '../../domain/budget/standing.ts';
import type { HeldCluster } from '../../store/budget-port.ts';
import type { Deps } from '../context.ts';

type Counting = Pick<Deps, 'store' | 'workflows' | 'now' | 'logger' | 'views'>;

/** Prefix for a stopped cluster, whose launches have ended instead of being held. */
const stopped = 'stopped: ';

/** One round over all workspaces with budgets. Never rejects. */
export async function countBudgets(deps: Counting): Promise<void> {
  try {
    for (const workspace of await deps.store.budgets.workspaces()) {
      const budgets = await deps.store.budgets.list(workspace);
      const sinceMs = deps.now() - countEveryMs / 2;
      if (budgets.length > 0 && budgets.every(({ counted }) => (counted?.atMs ?? 0) > sinceMs)) continue;
      await countWorkspace(deps, workspace);
    }
  } catch (error) {
    deps.logger.warn({ err: error }, 'budgets could not be counted now');
  }
}

/** Counts one workspace and signals its clusters. Throws UNAVAILABLE when the database does not answer. */
export async function countWorkspace(deps: Counting, workspace: string): Promise<void> {
  const { store, now } = deps;
  const nowMs = now();
  const [budgets, open] = await Promise.all([store.budgets.list(workspace), store.budgets.openClusters(workspace)]);
  const count = createCount(budgets, open, nowMs);
  if (budgets.length > 0) {
    const oldestMs = open.reduce((oldest, { createdAtMs }) => Math.min(oldest, createdAtMs), nowMs);
    const sinceMs = countSinceMs(budgets, nowMs, oldestMs);
    await store.costs.read({ workspace, sinceMs }, (entries) => entries.forEach((entry) => count.add(entry)));
    await store.budgets.counted(workspace, count.standings(), nowMs);
  }
  const verdicts = new Map(count.verdicts().map((verdict) => [verdict.number, verdict]));
  for (const cluster of open) {
    await carryOut(deps, { workspace, cluster, verdict: verdicts.get(cluster.number) ?? null }).catch(
      (error: unknown) =>
        deps.logger.warn(
          { err: error, workspace, cluster: cluster.number },
          'a cluster could not be signalled about its budget now',
        ),
    );
  }
}

async function carryOut(
  deps: Counting,
  { workspace, cluster, verdict }: { workspace: string; cluster: HeldCluster; verdict: Verdict | null },
): Promise<void> {
  const { number, held } = cluster;
  if (held?.startsWith(stopped) === true) return;
  const wanted = verdict === null ? null : verdict.action === 'stop' ? stopped + verdict.text : verdict.text;
  if (wanted === held) return;
  if (verdict?.action === 'stop') await end(deps, verdict);
  else {
    const why = verdict === null ? null : { code: 'BUDGET_EXCEEDED', text: verdict.text };
    await deps.workflows.signal<HoldSignal>(clusterWorkflowId(number), clusterMessages.hold, { why });
  }
  await deps.store.budgets.setHeld(number, wanted);
  deps.views.expire(number);
  deps.logger.info({ workspace, cluster: number, wanted }, 'a cluster was signalled about its budget');
}

/** Cancels a job, which then stops its cluster, so the job's own record has the reason. */
async function end({ workflows }: Counting, { number, job, text }: Verdict): Promise<void> {
  const why = { code: 'BUDGET_EXCEEDED', text };
  if (job === null) await workflows.signal<StopSignal>(clusterWorkflowId(number), clusterMessages.stop, why);
  else await workflows.signal<CancelSignal>(jobWorkflowId(job), jobMessages.cancel, why);
}
