// `ropewalk doctor`: checks all requirements, and reports each problem with a remedy. It changes nothing unless it is asked to
// reset stuck workflows, and never prints a token, a key or a password.
import { checkApi } from './api.ts';
import { checkClouds } from './clouds.ts';
import { checkDatabase } from './database.ts';
import { type Finding, type Patient } from './finding.ts';
import { checkDisk, checkHome } from './home.ts';
import { checkKeys } from './keys.ts';
import { checkAgentBundle, checkPorts, checkProcesses } from './machine.ts';
import { checkObjects } from './objects.ts';
import { checkStuckWorkflows } from './stuck-workflows.ts';
import { checkTemporal } from './temporal.ts';
import { checkTools } from './tools.ts';

/** All checks, ordered so that the first broken one usually explains the later ones. */
export async function examine(patient: Patient): Promise<Finding[]> {
  const found = await Promise.all(
    [
      checkTools,
      checkHome,
      checkDisk,
      checkPorts,
      checkProcesses,
      checkAgentBundle,
      checkKeys,
      checkDatabase,
      checkObjects,
      checkTemporal,
      checkStuckWorkflows,
      checkClouds,
      checkApi,
    ].map(async (check) => {
      try {
        return await check(patient);
      } catch (error) {
        const text = `could not be checked: ${error instanceof Error ? error.message : String(error)}`;
        return [{ check: check.name.replace(/^check/, '').toLowerCase(), state: 'broken', text, fix: '' } as const];
      }
    }),
  );
  return found.flat();
}

export const isBroken = (findings: readonly Finding[]): boolean => findings.some(({ state }) => state === 'broken');
