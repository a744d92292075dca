// Workflows that stand still: their tasks fail again and again, and nothing goes on until somebody does something.
import { RopewalkError } from '../../domain/errors.ts';
import type { HealReport } from '../../contracts/heal.ts';
import { healNow } from '../heal.ts';
import { withTemporal } from '../temporal.ts';
import { broken, ok, warning, type Finding, type Patient } from './finding.ts';

export async function checkStandstills({ env, home, heal = false }: Patient): Promise<Finding[]> {
  try {
    return await withTemporal({ env, home }, async ({ client }) => findingsOf(await healNow(client, !heal)));
  } catch (error) {
    // What is wrong with Temporal itself is another check's to say.
    if (error instanceof RopewalkError) return [];
    throw error;
  }
}

export function findingsOf(report: HealReport | null): Finding[] {
  if (report === null) {
    return [warning('workflows', 'nobody is there to look whether one stands still', 'Start a Temporal worker.')];
  }
  const { refusal, looked, unknown, healed } = report;
  if (refusal !== null) return [warning('workflows', refusal, 'Name the right Temporal namespace.')];
  const findings = healed.map(({ workflowId, outcome, text }) => {
    if (outcome === 'reset') return ok(workflowId, `stood still and was reset: ${text}`);
    const fix =
      outcome === 'told'
        ? 'docs/operations.md, "Workflows that stand still".'
        : 'The next healing resets it; ropewalk doctor --heal does so now.';
    return broken(workflowId, `stands still: ${text}`, fix);
  });
  const unseen = unknown.map((what) =>
    warning('workflows', `could not be looked at: ${what}`, 'Try again in a minute.'),
  );
  return [...(findings.length === 0 ? [ok('workflows', `none of ${looked} stands still`)] : findings), ...unseen];
}
