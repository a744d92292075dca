// Checks of Temporal: its reachability, the namespace, its search attributes, and its deployment.
import { RopewalkError } from '../../domain/errors.ts';
import { type NamespaceFound, readNamespace, requireSameNamespace } from '../../platform/namespace-claim.ts';
import { databasePlace, readDeployment } from '../database.ts';
import { findHost, type Host } from '../host.ts';
import { usualSettings } from '../init/prepare.ts';
import { withTemporal } from '../temporal.ts';
import { broken, ok, warning, type Finding, type Patient } from './finding.ts';

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
            ? await namespaceFinding(await readNamespace(client), { env, home })
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

async function namespaceFinding(found: NamespaceFound, patient: Pick<Patient, 'env' | 'home'>): Promise<Finding> {
  const { home } = patient;
  return (await idFinding(found, patient)) ?? ownerFinding(found.name, home, found.owner, await findHost(home));
}

/** Null when the namespace is the one of the database. */
async function idFinding(found: NamespaceFound, { env, home }: Pick<Patient, 'env' | 'home'>): Promise<Finding | null> {
  const deployment = await readDeployment(databasePlace(env, home));
  if (deployment === null) return null;
  try {
    requireSameNamespace(found, deployment);
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
