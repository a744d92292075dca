// One attempt to start the workflow of an admitted row. A second start changes nothing: the workflow's id is fixed, and its memo names the admission.
import { startOf } from '../../contracts/start.ts';
import { bundleKey, caKey } from '../../platform/archive-keys.ts';
import { keepForRetry } from '../../platform/vault/keep-for-retry.ts';
import type { Startable } from '../../store/admission-port.ts';
import type { CompletePorts } from '../ports.ts';
import { isUnavailable } from '../unavailable.ts';

export type StartResult = 'started' | 'refused' | 'unavailable' | 'failed';

/** The reason in a row whose number belongs to the workflow of another admission. */
export const numberInUse = {
  code: 'NUMBER_IN_USE',
  text: 'Temporal has a workflow of this number from another admission: the database was probably restored from an older backup. An operator runs `ropewalk reconcile`; then submit it again.',
};

type Starting = Pick<CompletePorts, 'store' | 'workflows' | 'vault' | 'now' | 'logger' | 'deploymentId'>;

/** Never rejects. Except for `started` and `refused`, the row stays admitted and is claimed again later. */
export async function startAdmitted(deps: Starting, row: Startable): Promise<StartResult> {
  const { store, workflows, logger, deploymentId } = deps;
  const { kind, number, workspace, admissionId } = row;
  const log = { workspace, [kind]: number };
  try {
    const outcome = await workflows.start(startOf(row, deploymentId));
    if (outcome.kind === 'exists' && outcome.admissionId !== admissionId) {
      logger.error({ ...log, admissionId, found: outcome.admissionId }, 'this number is used by another admission');
      await refuse(deps, row);
      return 'refused';
    }
    await store.admissions.started(kind, number);
    return 'started';
  } catch (error) {
    if (isUnavailable(error)) {
      logger.warn({ ...log, err: error }, 'an admitted workflow could not be started now');
      return 'unavailable';
    }
    logger.error({ ...log, err: error }, 'an admitted workflow could not be started');
    return 'failed';
  }
}

async function refuse({ store, vault, now }: Starting, row: Startable): Promise<void> {
  await store.admissions.refused(row.kind, row.number, numberInUse, now());
  await deleteSealed(vault, row);
}

/**
 * Deletes the sealed data of a row that ends without a start. Objects that cannot be deleted now expire. The specification stays, because the row's
 * view needs it.
 */
export async function deleteSealed(
  vault: Pick<CompletePorts['vault'], 'delete'>,
  { workspace, admissionId }: Pick<Startable, 'workspace' | 'admissionId'>,
): Promise<void> {
  await Promise.allSettled([
    vault.delete(bundleKey(workspace, admissionId)),
    vault.delete(caKey(workspace, admissionId)),
  ]);
}

/** For a job that could not start because another one failed: `batch retry` runs it once the other job is repaired. */
export async function keepSealed(
  vault: CompletePorts['vault'],
  { workspace, admissionId }: Pick<Startable, 'workspace' | 'admissionId'>,
): Promise<void> {
  await Promise.allSettled([
    keepForRetry(vault, bundleKey(workspace, admissionId)),
    vault.delete(caKey(workspace, admissionId)),
  ]);
}
