// `ropewalk doctor`: looks at everything that has to be right, and says what is wrong and what to do about it. It changes
// nothing unless it is to heal, and never prints a token or a key.
import { checkApi } from './api.ts';
import { checkAws } from './aws.ts';
import { type Finding, type Patient } from './finding.ts';
import { checkDisk, checkHome } from './home.ts';
import { checkAgentBundle, checkPorts, checkProcesses } from './machine.ts';
import { checkStandstills } from './standstills.ts';
import { checkTemporal } from './temporal.ts';
import { checkTools } from './tools.ts';

/** All checks, in an order in which the first broken one usually explains the later ones. */
export async function examine(patient: Patient): Promise<Finding[]> {
  const found = await Promise.all(
    [
      checkTools,
      checkHome,
      checkDisk,
      checkPorts,
      checkProcesses,
      checkAgentBundle,
      checkTemporal,
      checkStandstills,
      checkAws,
      checkApi,
    ].map(async (check) => {
      try {
        return await check(patient);
      } catch (error) {
        const text = `could not be looked at: ${error instanceof Error ? error.message : String(error)}`;
        return [{ check: check.name.replace(/^check/, '').toLowerCase(), state: 'broken', text, fix: '' } as const];
      }
    }),
  );
  return found.flat();
}

export const isBroken = (findings: readonly Finding[]): boolean => findings.some(({ state }) => state === 'broken');
