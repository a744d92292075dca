// Checks of Temporal: its reachability, the namespace, its search attributes, and its deployment.
import type { Client } from '@temporalio/client';

import { RopewalkError } from '../../domain/errors.ts';
import { databasePlace, readDeployment } from '../database.ts';
import { findHost, type Host } from '../host.ts';
import { usualSettings } from '../init/prepare.ts';
import { withTemporal } from '../temporal.ts';
import { broken, ok, warning, type Finding, type Patient } from './finding.ts';
import { namespaceOwner, readNamespace, requireSameNamespace } from '../../platform/namespace-claim.ts';

const initFix = 'Run: ropewalk init';

export async function checkTemporal({ env, home }: Patient): Promise<Finding[]> {
  try {
    return await withTemporal({ env, home }, async ({ address, namespace, connection, client }) => {
      const findings = [ok('temporal', address)];
      try {
        const listed = await connection.operatorService.listSearchAttributes({ namespace });
        const absent = usualSettings.searchAttributes.filter((name) => listed.customAttributes?.[name] === undefined);
        findings.push(
          absent.length === 0
            ? ((await idFinding(client, { env, home })) ??
                ownerFinding(namespace, home, await namespaceOwner(client), await findHost(home)))
            : broken('namespace', `${namespace} lacks search attributes: ${absent.join(', ')}`, initFix),
        );
      } catch (error) {
        const text = error instanceof Error ? error.message : String(error);
        findings.push(broken('namespace', `${namespace} cannot be read: ${text}`, initFix));
      }
      return findings;
    });
  } catch (error) {
    if (!(error instanceof RopewalkError)) throw error;
    const { code, message, hint = '' } = error.problem;
    // A machine that only uses an API needs no Temporal.
    return [code === 'VALIDATION' ? warning('temporal', message, hint) : broken('temporal', message, hint)];
  }
}

/** Null when the namespace is the one of the database. */
async function idFinding(client: Client, { env, home }: Pick<Patient, 'env' | 'home'>): Promise<Finding | null> {
  const deployment = await readDeployment(databasePlace(env, home));
  if (deployment === null) return null;
  try {
    requireSameNamespace(await readNamespace(client), deployment);
    return null;
  } catch (error) {
    if (!(error instanceof RopewalkError)) throw error;
    return broken('namespace', error.problem.message, error.problem.hint ?? '');
  }
}

function ownerFinding(namespace: string, home: string, owner: string | null, host: Host | null): Finding {
  if (owner === null) return broken('namespace', `no deployment has claimed ${namespace}`, initFix);
  if (host === null || host.deploymentId === owner) return ok('namespace', `${namespace}, of deployment ${owner}`);
  const text = `${namespace} belongs to deployment ${owner}, and ${home} to ${host.deploymentId}`;
  return broken('namespace', text, `Use the home of ${owner}, or another namespace (TEMPORAL_NAMESPACE).`);
}
