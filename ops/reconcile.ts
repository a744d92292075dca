// `ropewalk reconcile`: compares the database with workflows now, as the schedule does every few minutes, and prints the
// report. The workflow makes all decisions, with the schedule's settings.
import { type Client, ScheduleNotFoundError } from '@temporalio/client';

import { controlQueue } from '../contracts/flush.ts';
import {
  reconcileDryRunId,
  type ReconcileInput,
  reconcileNowId,
  type ReconcileReport,
  reconcileScheduleId,
  reconcileType,
} from '../contracts/reconcile.ts';
import { RopewalkError } from '../domain/errors.ts';
import { plural } from './plural.ts';
import { hasPoller } from './pollers.ts';
import { reporting, type Said } from './report.ts';
import { runNow, unfinished } from './run-now.ts';
import { withTemporal } from './temporal.ts';

export interface ReconcileOptions {
  env: Record<string, string | undefined>;
  home: string;
  namespace?: string | undefined;
  dryRun: boolean;
  format: 'table' | 'json';
}

/** Returns the exit code: 1 also when the comparison was refused, or something could not be compared. */
export async function runReconcile(options: ReconcileOptions, said: Said): Promise<number> {
  return reporting(said, () =>
    withTemporal(options, async ({ client, namespace }) => {
      const { report, graceMs } = await reconcileNow(client, namespace, { dryRun: options.dryRun });
      if (options.format === 'json') said.json(report);
      else printReport(report, graceMs, said);
      return report.refusal !== null || report.unknown.length > 0 ? 1 : 0;
    }),
  );
}

/**
 * Runs the workflow of the schedule with the schedule's settings, and waits for its report.
 *
 * @throws RopewalkError NOT_FOUND without that schedule, UNAVAILABLE without a Temporal worker or when the workflow failed.
 */
export async function reconcileNow(
  client: Client,
  namespace: string,
  { dryRun }: { dryRun: boolean },
): Promise<{ report: ReconcileReport; graceMs: number }> {
  const input = await scheduledInput(client, namespace);
  if (!(await hasPoller(client, controlQueue, 'workflows'))) throw noWorker();
  return { report: await run(client, { ...input, dryRun }), graceMs: input.graceMs };
}

async function scheduledInput(client: Client, namespace: string): Promise<ReconcileInput> {
  try {
    const { action } = await client.schedule.getHandle(reconcileScheduleId).describe();
    // Only ops/init/claim.ts writes it.
    const [input]: readonly ReconcileInput[] = action.args ?? [];
    if (input !== undefined) return input;
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
  }
  throw new RopewalkError({
    code: 'NOT_FOUND',
    message: `the Temporal namespace ${namespace} has no schedule "${reconcileScheduleId}"`,
    hint: 'Run "ropewalk init" for it, or name the right one with --namespace.',
  });
}

async function run(client: Client, input: ReconcileInput): Promise<ReconcileReport> {
  const { dryRun } = input;
  const workflowId = dryRun ? reconcileDryRunId : reconcileNowId;
  const summary = `${dryRun ? 'Dry run of the comparison' : 'Comparison'} of the database with workflows, by hand`;
  try {
    return await runNow(client, { type: reconcileType, workflowId, input, waitMs, summary });
  } catch (error) {
    const hint = `It needs a Temporal worker that can reach the database. The Temporal UI shows ${workflowId}.`;
    throw unfinished(error, { what: 'the comparison', hint });
  }
}

/** Milliseconds. A database of 100,000 open rows takes some minutes. */
const waitMs = 15 * 60_000;

const noWorker = (): RopewalkError =>
  new RopewalkError({
    code: 'UNAVAILABLE',
    message: 'no Temporal worker polls this namespace',
    hint: 'Start one ("npm run worker"); it needs the same ROPEWALK_HOME and ROPEWALK_DATABASE_URL as the API.',
  });

export function printReport(report: ReconcileReport, graceMs: number, said: Said): void {
  const { refusal, dryRun, compared, finalized, adopted, refreshed, waiting, unknown } = report;
  if (refusal !== null) {
    said.err(`nothing was compared: ${refusal}`);
    return;
  }
  said.out(`compared ${plural(compared, 'open row')} with workflows`);
  for (const id of finalized) said.out(`  ${id}  ${dryRun ? 'would be ended' : 'ended'}: its workflow is gone`);
  for (const id of adopted) said.out(`  ${id}  ${dryRun ? 'would be added' : 'added'}: its workflow had no row`);
  for (const id of refreshed) said.out(`  ${id}  ${dryRun ? 'would be updated' : 'updated'}: its row was older`);
  for (const id of waiting) said.out(`  ${id}  waiting: its workflow has been missing for a short time`);
  for (const what of unknown) said.err(`  could not be compared: ${what}`);
  if (waiting.length > 0) {
    said.out(`  rows that wait are ended by a run ${graceMs / 1_000} s or more after the one that found them`);
  }
}
