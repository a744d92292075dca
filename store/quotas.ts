// Reservations of clusters that are resized.
import { noteUsage, reserveShare, settleShare } from '../domain/quota/shares.ts';
import { refusedByBudget } from '../domain/budget/admit.ts';
import type { Problem } from '../domain/errors.ts';
import type { Reservation } from '../domain/quota/state.ts';
import { listBudgets } from './budgets.ts';
import type { Database, Engine } from './database.ts';
import { lockWorkspace } from './people-rows.ts';
import { quotaOf, reservationOf } from './quota-rows.ts';
import type { QuotaStore } from './store.ts';
import type { Db } from './tables.ts';

export function createQuotaStore(database: Database): QuotaStore {
  const { engine } = database;
  const change = (number: number, rule: (before: Reservation) => Reservation): Promise<void> =>
    database.write(async (db) => {
      const found = await lockReservation(db, engine, number);
      if (found === null) return;
      const after = rule(found.reservation);
      if (after !== found.reservation) await update(db, after);
    });
  return {
    reserve: ({ number, kind, instances }, nowMs) =>
      database.write(async (db) => {
        const row = await db
          .selectFrom('reservations')
          .select('workspace')
          .where('number', '=', number)
          .executeTakeFirst();
        // Locks the workspace before the reservation, as in an admission: the order prevents deadlocks.
        const workspace = row === undefined ? null : await lockWorkspace(db, engine, row.workspace);
        const found = await lockReservation(db, engine, number);
        if (workspace === null || found === null) return { error: notOpen(number) };
        const quota = await quotaOf(db, workspace, found.reservation.user);
        const answer = reserveShare(found.reservation, { kind, instances }, quota);
        if ('error' in answer) return answer;
        if (answer.ok.reservation.instances > found.reservation.instances) {
          const refused = refusedByBudget(await listBudgets(db, workspace.slug), found.reservation.user, nowMs);
          if (refused !== null) return { error: refused };
        }
        await update(db, answer.ok.reservation);
        return { ok: { seq: answer.ok.seq } };
      }),
    settle: ({ number, ...request }) => change(number, (before) => settleShare(before, request)),
    noteUsage: ({ number, ...has }) => change(number, (before) => noteUsage(before, has)),
  };
}

async function lockReservation(db: Db, engine: Engine, number: number): Promise<{ reservation: Reservation } | null> {
  const row = await db
    .selectFrom('reservations')
    .selectAll()
    .where('number', '=', number)
    .$if(engine === 'postgres', (query) => query.forUpdate())
    .executeTakeFirst();
  return row === undefined ? null : { reservation: reservationOf(row) };
}

async function update(db: Db, { number, instances, vcpus, share, has }: Reservation): Promise<void> {
  await db
    .updateTable('reservations')
    .set({
      ...{ instances, vcpus },
      share: share === undefined ? null : JSON.stringify(share),
      has: has === undefined ? null : JSON.stringify(has),
    })
    .where('number', '=', number)
    .execute();
}

const notOpen = (number: number): Problem => ({
  code: 'NOT_FOUND',
  message: `There is no open cluster ${number}.`,
});
