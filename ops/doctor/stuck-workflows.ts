// Stuck workflows: their workflow task fails at each attempt, and they make no progress until a person or a reset acts.
import type { Client } from '@temporalio/client';

import type { StuckWorkflowsReport } from '../../contracts/stuck-workflows.ts';
import { RopewalkError } from '../../domain/errors.ts';
import { findStuckWorkflows, resetPoint } from '../stuck-workflows.ts';
import { withTemporal } from '../temporal.ts';
import { broken, ok, warning, type Finding, type Patient } from './finding.ts';

export async function checkStuckWorkflows({ env, home, resetStuck = false }: Patient): Promise<Finding[]> {
  try {
    return await withTemporal({ env, home }, async ({ address, namespace, client }) => {
      const report = await findStuckWorkflows(client, { autoReset: resetStuck });
      const commands = await resetCommands(client, report, { address, namespace });
      return findingsOf(report, commands);
    });
  } catch (error) {
    // Another check reports a problem of Temporal itself.
    if (error instanceof RopewalkError) return [];
    throw error;
  }
}

/** `commands`: the manual reset command of each workflow, by its id. */
export function findingsOf(report: StuckWorkflowsReport | null, commands: ReadonlyMap<string, string>): Finding[] {
  if (report === null) {
    return [warning('workflows', 'no Temporal worker could look for stuck workflows', 'Start a Temporal worker.')];
  }
  const { refusal, checked, unknown, stuck } = report;
  if (refusal !== null) return [warning('workflows', refusal, 'Name the right Temporal namespace.')];
  const findings = stuck.map(({ workflowId, outcome, text }) => {
    if (outcome === 'reset') return ok(workflowId, `was stuck and has been reset: ${text}`);
    const command = commands.get(workflowId);
    const byHand = command === undefined ? '' : ` By hand: ${command}`;
    const fix =
      outcome === 'reported'
        ? `docs/operations.md, "Stuck workflows", says whether a reset helps.${byHand}`
        : `It is reset within five minutes; ropewalk doctor --reset-stuck does so now.${byHand}`;
    return broken(workflowId, `is stuck: ${text}`, fix);
  });
  const unseen = unknown.map((what) => warning('workflows', `could not be checked: ${what}`, 'Try again in a minute.'));
  return [...(findings.length === 0 ? [ok('workflows', `none of ${checked} is stuck`)] : findings), ...unseen];
}

async function resetCommands(
  client: Client,
  report: StuckWorkflowsReport | null,
  { address, namespace }: { address: string; namespace: string },
): Promise<Map<string, string>> {
  const commands = new Map<string, string>();
  for (const { workflowId, outcome, text } of report?.stuck ?? []) {
    const eventId = outcome === 'reset' ? null : await resetPoint(client, workflowId, text);
    if (eventId === null) continue;
    const flags = `--workflow-id ${workflowId} --event-id ${eventId} --reason "ropewalk doctor"`;
    commands.set(workflowId, `temporal workflow reset --address ${address} --namespace ${namespace} ${flags}`);
  }
  return commands;
}
