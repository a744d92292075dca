// `ropewalk sweep`: runs the scheduled sweeps of a namespace now, or shows their effect. The schedule's workflow makes all
// decisions, with the schedule's settings.
import type { Client } from '@temporalio/client';

import { RopewalkError } from '../domain/errors.ts';
import {
  sweepDryRunId,
  type SweepInput,
  sweepNowId,
  type SweepReport,
  sweepScheduleId,
  sweepType,
} from '../contracts/sweep.ts';
import { plural } from './plural.ts';
import { reporting, type Said } from './report.ts';
import { runNow, unfinished } from './run-now.ts';
import { withTemporal } from './temporal.ts';

export interface SweepOptions {
  env: Record<string, string | undefined>;
  home: string;
  namespace?: string | undefined;
  dryRun: boolean;
  format: 'table' | 'json';
}

/** Returns the exit code: 1 also when something could not be judged or ended. */
export async function runSweep(options: SweepOptions, said: Said): Promise<number> {
  return reporting(said, () =>
    withTemporal(options, async ({ client, namespace }) => {
      const inputs = await scheduledSweeps(client, namespace);
      const reports: (SweepReport & { providerQueue: string })[] = [];
      for (const input of inputs) {
        const report = await sweepNow(client, { ...input, dryRun: options.dryRun });
        reports.push({ providerQueue: input.providerQueue, ...report });
      }
      if (options.format === 'json') said.json(reports);
      else for (const report of reports) printReport(report, said);
      return reports.some(
        ({ refusal, failed, unlisted }) => refusal !== null || unlisted !== undefined || failed.length > 0,
      )
        ? 1
        : 0;
    }),
  );
}

/** The inputs of this namespace's schedules. */
async function scheduledSweeps(client: Client, namespace: string): Promise<SweepInput[]> {
  const inputs: SweepInput[] = [];
  for await (const { scheduleId } of client.schedule.list()) {
    if (!scheduleId.startsWith(sweepScheduleId(''))) continue;
    const { action } = await client.schedule.getHandle(scheduleId).describe();
    // Only ops/init/schedule.ts writes it.
    const [input]: readonly SweepInput[] = action.args ?? [];
    if (input !== undefined) inputs.push(input);
  }
  if (inputs.length > 0) return inputs;
  throw new RopewalkError({
    code: 'NOT_FOUND',
    message: `no sweep is scheduled in the Temporal namespace ${namespace}`,
    hint: 'Run "ropewalk init" for it, or name the right one with --namespace. A new schedule is listed after a second or two.',
  });
}

async function sweepNow(client: Client, input: SweepInput): Promise<SweepReport> {
  const { providerQueue, dryRun } = input;
  const workflowId = dryRun ? sweepDryRunId(providerQueue) : sweepNowId(providerQueue);
  const summary = `${dryRun ? 'Dry run of the sweep' : 'Sweep'} of ${providerQueue}, asked for by hand`;
  try {
    return await runNow(client, { type: sweepType, workflowId, input, waitMs, summary });
  } catch (error) {
    const hint = `It needs a Temporal worker, also on the host of ${providerQueue}. The Temporal UI shows ${workflowId}.`;
    throw unfinished(error, { what: `the sweep of ${providerQueue}`, hint });
  }
}

/** Milliseconds: longer than the workflow waits for an unresponsive host. */
const waitMs = 10 * 60_000;

function printReport(report: SweepReport & { providerQueue: string }, said: Said): void {
  const { providerQueue, refusal, dryRun, verdicts, terminated, removed, unlisted, failed, graceMs } = report;
  const resources = verdicts.filter(({ kind }) => kind !== undefined).length;
  const besides = resources === 0 ? '' : `, ${plural(resources, 'cloud resource')}`;
  said.out(`${providerQueue}: ${plural(verdicts.length - resources, 'instance')}${besides}`);
  if (refusal !== null) said.err(`  nothing was judged: ${refusal}`);
  if (unlisted !== undefined) said.err(`  cloud resources could not be listed: ${unlisted}`);
  const ended = new Set([...terminated, ...removed]);
  for (const { id, owner, kind, verdict, text } of verdicts) {
    const outcome = verdict !== 'orphan' ? verdict : ended.has(id) ? 'ended' : dryRun ? 'would be ended' : 'orphan';
    const what = kind === undefined ? id : `${kind} ${id}`;
    said.out(`  ${what}  ${owner.workspace} ${owner.cluster}  ${outcome}: ${text}`);
  }
  for (const { ids, text } of failed) said.err(`  could not end ${ids.join(', ')}: ${text}`);
  if (verdicts.some(({ verdict }) => verdict === 'suspected')) {
    said.out(`  what is suspected is ended when it is still unowned ${graceMs / 1_000} s after it was first seen`);
  }
}
