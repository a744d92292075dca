// Restores row, name and reservation of a workflow without a row, after an older database was restored.
import type { Database } from './database.ts';
import { reserveNumbersTo } from './deployment.ts';
import { insertReservation } from './quota-rows.ts';
import { newRecord, type AnyView } from './record-rows.ts';
import type { Startable } from './admission-port.ts';
import { insertWorkspace } from './workspaces.ts';

/** False when the row exists. */
export const adopt = (
  database: Database,
  { view, vcpus, ...found }: Startable & { view: AnyView; vcpus: number },
): Promise<boolean> =>
  database.write(async (db) => {
    const { kind, number, workspace, name, user, admissionId } = found;
    // The workspace, too, may be newer than the backup; its users are then unknown.
    await insertWorkspace(db, workspace, found.admittedAtMs);
    const instances = instancesOf(view);
    const record = newRecord({
      ...{ ...found, job: view.job ?? null, state: 'open', command: view.command ?? '' },
      ...{ instances, createdAtMs: found.admittedAtMs },
    });
    const inserted = await db
      .insertInto('records')
      .values({ ...record, status: view.status, ended_at_ms: view.endedAtMs, view: JSON.stringify(view) })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst();
    if ((inserted.numInsertedOrUpdatedRows ?? 0n) === 0n) return false;
    const workerVcpus = Math.round(vcpus / Math.max(1, instances));
    await insertReservation(db, workspace, { number, user, instances, vcpus, workerVcpus });
    // A name that was given to another object since the restore stays with it.
    await db
      .insertInto('open_names')
      .values({ workspace, name, number, kind, admission_id: admissionId })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    await reserveNumbersTo(db, number);
    return true;
  });

/** A job's view has a count of instances; a cluster's view has a target. */
const instancesOf = (view: AnyView): number =>
  typeof view.instances === 'number' ? view.instances : (view.target ?? 0);
