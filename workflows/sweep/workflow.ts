// One sweep: list, describe, decide, remember, terminate, forget. It terminates only resources that domain/sweep calls orphans. Its activities have
// short timeouts, because the next run starts over.
import { ActivityFailure, proxyActivities, setCurrentDetails } from '@temporalio/workflow';

import type { InstanceActivities, SweepActivities, SweepListActivities } from '../../contracts/activities.ts';
import type { Owner } from '../../domain/owner.ts';
import { launchMayLastMs } from '../../domain/sweep/limits.ts';
import { plural } from '../../domain/units.ts';
import { decideSweep, groupByOwner } from '../../domain/sweep/decide.ts';
import type { SweepDecision, SweepObservation } from '../../domain/sweep/state.ts';
import type { SweepInput, SweepReport } from '../../contracts/sweep.ts';

/** A report is one payload. Beyond this many instances it lists only those that are not `owned`. */
const maxVerdictsReported = 2_000;

/** Maximum number of pending activities of one run. */
const ownersAtOnce = 50;

export async function sweep(input: SweepInput): Promise<SweepReport> {
  const { deploymentId, provider, providerQueue, graceMs, dryRun } = input;
  const memory = { memory: memoryKey(providerQueue) };
  const { instances, resources, unlisted } = await at(providerQueue).listInstances.executeWithOptions(
    { summary: `list instances and cloud resources of ${deploymentId}` },
    [{ provider, deploymentId }],
  );
  const numbers = [...new Set([...instances, ...resources].map(({ owner }) => owner.cluster))];
  const presence = await control.describeClusters.executeWithOptions(
    { summary: `describe ${plural(numbers.length, 'cluster')}` },
    [{ numbers }],
  );
  const { sightings } = await control.readSightings.executeWithOptions({ summary: 'read earlier sightings' }, [memory]);
  const observation: SweepObservation = { ...presence, instances, resources };
  const settings = { deploymentId, graceMs, launchMs: launchMayLastMs };
  const decision = decideSweep(settings, observation, sightings, Date.now());
  const report: SweepReport = {
    ...{ refusal: decision.refusal, dryRun, graceMs, terminated: [], removed: [], failed: [] },
    ...(unlisted === undefined ? {} : { unlisted }),
    verdicts: forReport(decision),
  };
  if (!dryRun) {
    if (JSON.stringify(decision.sightings) !== JSON.stringify(sightings)) {
      await control.writeSightings.executeWithOptions({ summary: 'write sightings' }, [
        { ...memory, sightings: decision.sightings },
      ]);
    }
    await endOrphans(input, decision, report);
    await control.removeExpiredSealed.executeWithOptions({ summary: 'delete sealed objects that have expired' }, []);
  }
  setCurrentDetails(describe(report));
  return report;
}

async function endOrphans(input: SweepInput, decision: SweepDecision, report: SweepReport): Promise<void> {
  const { provider, providerQueue } = input;
  await byOwner(decision.orphans, report.terminated, report, ({ owner, ids }) =>
    at(providerQueue).terminateInstances.executeWithOptions(
      { summary: `terminate ${plural(ids.length, 'orphan')} of cluster ${owner.cluster}` },
      [{ provider, owner, ids }],
    ),
  );
  await byOwner(decision.leftovers, report.removed, report, ({ owner, ids }) =>
    at(providerQueue).deleteResources.executeWithOptions(
      { summary: `delete ${plural(ids.length, 'cloud resource')} of cluster ${owner.cluster}` },
      [{ provider, owner, ids }],
    ),
  );
}

/** A failure to terminate one owner's resources must not protect the orphans of other owners. */
async function byOwner(
  things: SweepDecision['orphans'],
  done: string[],
  report: SweepReport,
  end: (group: { owner: Owner; ids: string[] }) => Promise<unknown>,
): Promise<void> {
  const groups = groupByOwner(things);
  const endOne = async (group: { owner: Owner; ids: string[] }): Promise<void> => {
    try {
      await end(group);
      done.push(...group.ids);
    } catch (error) {
      if (!(error instanceof ActivityFailure)) throw error;
      report.failed.push({ ...group, text: error.cause?.message ?? error.message });
    }
  };
  for (let from = 0; from < groups.length; from += ownersAtOnce) {
    await Promise.all(groups.slice(from, from + ownersAtOnce).map(endOne));
  }
}

/** A long report leaves out instances with the verdict `owned`. */
function forReport({ verdicts }: SweepDecision): SweepReport['verdicts'] {
  if (verdicts.length <= maxVerdictsReported) return verdicts;
  return verdicts.filter(({ verdict }) => verdict !== 'owned').slice(0, maxVerdictsReported);
}

function describe({ refusal, verdicts, terminated, removed, failed }: SweepReport): string {
  if (refusal !== null) return `Nothing was judged: ${refusal}.`;
  const unended = failed.reduce((count, { ids }) => count + ids.length, 0);
  return `Judged ${verdicts.length}, ended ${terminated.length + removed.length}, could not end ${unended}.`;
}

/** Sightings belong to one provider queue, because a sweep lists only its own queue. */
const memoryKey = (providerQueue: string): string => `sweep/${providerQueue.replaceAll('/', '.')}.json`;

const patience = { startToCloseTimeout: '1m', scheduleToCloseTimeout: '3m' } as const;

const control = proxyActivities<SweepActivities>({
  ...patience,
  heartbeatTimeout: '10s',
  retry: { initialInterval: '200ms', maximumInterval: '10s' },
});

/** A host that was removed never answers. The run then fails, and the Temporal UI shows the pending activity. */
function at(taskQueue: string): ReturnType<typeof proxyActivities<InstanceActivities & SweepListActivities>> {
  return proxyActivities<InstanceActivities & SweepListActivities>({
    ...patience,
    taskQueue,
    heartbeatTimeout: '5s',
    retry: { initialInterval: '500ms', maximumInterval: '30s' },
  });
}
