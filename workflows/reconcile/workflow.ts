// Reconciles rows with workflows: compares them, stops a job or cluster whose other half is missing, terminates the instances of missing workflows,
// finalizes their rows, and adopts workflows without a row. Every step is idempotent; the next run repeats failed steps.
import { ActivityCancellationType, log, proxyActivities, setCurrentDetails } from '@temporalio/workflow';

import type {
  InstanceActivities,
  MissingRecord,
  ReconcileActivities,
  RecordComparison,
} from '../../contracts/activities.ts';
import { clusterMessages, clusterWorkflowId, type StopSignal } from '../../contracts/cluster.ts';
import { type CancelSignal, clusterGone, jobMessages, jobWorkflowId } from '../../contracts/job.ts';
import type { ReconcileInput, ReconcileReport } from '../../contracts/reconcile.ts';
import { notify } from '../notify.ts';

/** Maximum number of concurrent activities. */
const stepsAtOnce = 50;

export async function reconcile(input: ReconcileInput): Promise<ReconcileReport> {
  const { deploymentId, dryRun } = input;
  const found = await control.compareRecords.executeWithOptions({ summary: 'compare open rows with workflows' }, [
    input,
  ]);
  const { refusal, compared, refreshed, waiting, unknown } = found;
  const report: ReconcileReport = {
    refusal,
    dryRun,
    compared,
    finalized: [],
    adopted: [],
    refreshed,
    waiting,
    unknown,
  };
  if (refusal === null) {
    if (dryRun) report.finalized = found.finalize.map(nameOf);
    else await finalizeAll(deploymentId, found, report);
    const { adopted, unknown: alsoUnknown } = await control.adoptWorkflows.executeWithOptions(
      { summary: 'adopt workflows without a row' },
      [{ dryRun }],
    );
    report.adopted = adopted;
    report.unknown = [...report.unknown, ...alsoUnknown];
  }
  setCurrentDetails(describe(report));
  return report;
}

async function finalizeAll(deploymentId: string, found: RecordComparison, report: ReconcileReport): Promise<void> {
  const terminated = new Map<number, Promise<void>>();
  /** A job and its cluster share one number and one set of instances. */
  const terminateOnce = (record: MissingRecord): Promise<void> => {
    const known = terminated.get(record.number) ?? terminateRemains(deploymentId, record);
    terminated.set(record.number, known);
    return known;
  };
  const cancelJob = async (record: MissingRecord): Promise<void> => {
    await terminateOnce(record);
    const text = `${clusterWorkflowId(record.number)} was ended from outside`;
    const signal: CancelSignal = { code: clusterGone, text };
    await notify(jobWorkflowId(record.number), jobMessages.cancel, signal);
    report.waiting.push(nameOf(record));
  };
  const finalize = async (record: RecordComparison['finalize'][number]): Promise<void> => {
    const { kind, number, workspace, specRef, release } = record;
    if (record.stopCluster) await stopCluster(number);
    else await terminateOnce(record);
    await control.finalizeRecord.executeWithOptions({ summary: `finalize ${nameOf(record)}` }, [
      { kind, number, workspace, specRef, release },
    ]);
    report.finalized.push(nameOf(record));
  };
  const steps = [
    ...found.cancelJobs.map((record) => ({ record, step: () => cancelJob(record) })),
    ...found.finalize.map((record) => ({ record, step: () => finalize(record) })),
  ];
  for (let from = 0; from < steps.length; from += stepsAtOnce) {
    await Promise.all(
      steps.slice(from, from + stepsAtOnce).map(({ record, step }) =>
        step().catch((error: unknown) => {
          log.warn('a row could not be finalized yet', { row: nameOf(record), error: String(error) });
          report.waiting.push(nameOf(record));
        }),
      ),
    );
  }
}

async function stopCluster(number: number): Promise<void> {
  const signal: StopSignal = { code: 'JOB_GONE', text: `${jobWorkflowId(number)} was ended from outside` };
  await notify(clusterWorkflowId(number), clusterMessages.stop, signal);
}

async function terminateRemains(deploymentId: string, { number, workspace, specRef }: MissingRecord): Promise<void> {
  const place = await control.locate.executeWithOptions({ summary: `find the provider of ${number}` }, [{ specRef }]);
  if (place === null) return;
  const owner = { deploymentId, workspace, cluster: number };
  const { ids } = await at(place.providerQueue).terminateRemains.executeWithOptions(
    { summary: `terminate whatever still carries the tags of ${number}` },
    [{ provider: place.provider, owner }],
  );
  if (ids.length > 0) log.warn('instances of a missing workflow were terminated', { number, ids });
}

const nameOf = ({ kind, number }: Pick<MissingRecord, 'kind' | 'number'>): string => `${kind}/${number}`;

function describe({ refusal, compared, finalized, adopted, waiting, unknown }: ReconcileReport): string {
  if (refusal !== null) return `Nothing was compared: ${refusal}.`;
  return [
    `Compared ${compared} open rows.`,
    `Finalized: ${listed(finalized)}. Adopted: ${listed(adopted)}. Waiting: ${listed(waiting)}. Unknown: ${listed(unknown)}.`,
  ].join('\n\n');
}

const listed = (names: string[]): string =>
  names.length === 0 ? 'none' : `${names.slice(0, 20).join(', ')}${names.length > 20 ? `, … (${names.length})` : ''}`;

// Bounded, because the next run starts over.
const patience = {
  startToCloseTimeout: '5m',
  scheduleToCloseTimeout: '10m',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { initialInterval: '500ms', maximumInterval: '10s' },
} as const;

const control = proxyActivities<ReconcileActivities>({ ...patience, heartbeatTimeout: '10s' });

const at = (taskQueue: string) =>
  proxyActivities<InstanceActivities>({
    ...patience,
    taskQueue,
    startToCloseTimeout: '1m',
    scheduleToCloseTimeout: '2m',
    heartbeatTimeout: '5s',
  });
