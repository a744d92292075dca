// Rows of reservations, and sums over them.
import { sql } from 'kysely';

import type { Reservation, WorkspaceLimits } from '../domain/quota/state.ts';
import type { Quota } from '../domain/quota/usage.ts';
import type { Workspace } from './store.ts';
import type { Db, ReservationTable } from './tables.ts';

export const reservationOf = (row: ReservationTable): Reservation => ({
  number: row.number,
  user: row.user_name,
  instances: row.instances,
  vcpus: row.vcpus,
  workerVcpus: row.worker_vcpus,
  ...(row.share === null ? {} : { share: JSON.parse(row.share) as NonNullable<Reservation['share']> }),
  ...(row.has === null ? {} : { has: JSON.parse(row.has) as NonNullable<Reservation['has']> }),
});

/** The workspace's usage. */
export async function usageOf(db: Db, workspace: string): Promise<WorkspaceLimits> {
  const row = await db
    .selectFrom('reservations')
    .select(({ fn }) => [
      fn.countAll<number>().as('running'),
      fn.sum<number | null>('instances').as('instances'),
      fn.sum<number | null>('vcpus').as('vcpus'),
    ])
    .where('workspace', '=', workspace)
    .executeTakeFirstOrThrow();
  return { running: row.running, instances: row.instances ?? 0, vcpus: row.vcpus ?? 0 };
}

/** Each user with usage, by name. */
export async function usageByUser(db: Db, workspace: string): Promise<{ user: string; use: WorkspaceLimits }[]> {
  const rows = await db
    .selectFrom('reservations')
    .select(({ fn }) => [
      'user_name as user',
      fn.countAll<number>().as('running'),
      fn.sum<number>('instances').as('instances'),
      fn.sum<number>('vcpus').as('vcpus'),
    ])
    .where('workspace', '=', workspace)
    .groupBy('user_name')
    .execute();
  return rows.map(({ user, ...use }) => ({ user, use })).toSorted((a, b) => (a.user < b.user ? -1 : 1));
}

/** Usage and limits of the workspace, which the caller has locked, and of one user: one pass over the reservations. */
export async function quotaOf(db: Db, { slug, limits, perUser }: Workspace, user: string): Promise<Quota> {
  const ofUser = sql<number>`case when user_name = ${user} then 1 else 0 end`;
  const row = await db
    .selectFrom('reservations')
    .select(({ fn }) => [
      fn.countAll<number>().as('running'),
      fn.sum<number | null>('instances').as('instances'),
      fn.sum<number | null>('vcpus').as('vcpus'),
      sql<number | null>`sum(${ofUser})`.as('own_running'),
      sql<number | null>`sum(${ofUser} * instances)`.as('own_instances'),
      sql<number | null>`sum(${ofUser} * vcpus)`.as('own_vcpus'),
    ])
    .select((build) =>
      build
        .selectFrom('users')
        .select('users.limits')
        .where('users.workspace', '=', slug)
        .where('users.name', '=', user)
        .as('own_limits'),
    )
    .where('workspace', '=', slug)
    .executeTakeFirstOrThrow();
  const use = { running: row.running, instances: row.instances ?? 0, vcpus: row.vcpus ?? 0 };
  const ownUse = { running: row.own_running ?? 0, instances: row.own_instances ?? 0, vcpus: row.own_vcpus ?? 0 };
  const ownLimits = row.own_limits === null ? {} : (JSON.parse(row.own_limits) as Partial<WorkspaceLimits>);
  return {
    workspace: { use, limits },
    user: { name: user, use: ownUse, limits: { ...perUser, ...ownLimits } },
  };
}

export async function insertReservation(
  db: Db,
  workspace: string,
  { number, user, instances, vcpus, workerVcpus }: Reservation,
): Promise<void> {
  await db
    .insertInto('reservations')
    .values({
      ...{ number, workspace, user_name: user, instances, vcpus, worker_vcpus: workerVcpus },
      ...{ share: null, has: null },
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Releases the quota and the name of an ended number. */
export async function releaseNumber(db: Db, number: number): Promise<void> {
  await db.deleteFrom('reservations').where('number', '=', number).execute();
  await db.deleteFrom('open_names').where('number', '=', number).execute();
}
