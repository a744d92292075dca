// Limits of a job: its tasks, leases, attempts and records.

/**
 * Tasks in one job. A job's state does not grow with them, but for sets of tasks at a bit each: task-set.ts, and `indicesOfPlace` in
 * array.ts, are made for so many.
 */
export const maxTasks = 1_000_000;
/** Characters of array syntax in a request, as long as a job's state carries it. */
export const maxArrayChars = 80_000;

/** Instances of one job unless the user says otherwise. */
export const defaultMaxWorkers = 1_000;

/** A lease that is not renewed for this long is suspected. Agents renew at a third of it. */
export const defaultLeaseMs = 90_000;
export const minLeaseMs = 1_000;
/**
 * The lease of a task that has run for long grows to a quarter of that time, up to this: each renewal costs the job five events, and
 * a task that has run for an hour loses little when its end is noticed some minutes later.
 */
export const maxGrownLeaseMs = 600_000;

/** How many times a silent but existing instance gets another lease period before its task is granted to another one. */
export const maxLeaseExtensions = 2;

/** Leases of short tasks that one agent may have, with the running one: enough to make an exchange cheap, few to return. */
export const maxHeldLeases = 100;
/** The same over all agents of a job: its state must stay small enough for continue-as-new, at some 200 bytes a lease. */
export const maxLeasesAhead = 2_000;

/**
 * A task whose attempts end with their instance, for an unknown reason, may be the reason. It fails after this many losses within
 * the window, or after `maxLostAttemptsEver` in all, so a task that takes long to do so ends too.
 */
export const maxLostAttempts = 3;
export const lostAttemptsWindowMs = 24 * 3_600_000;
export const maxLostAttemptsEver = 10;

/** Lost instances that a job remembers, at some 100 bytes each: more than any cluster has at a time. */
export const maxLostRemembered = 2_000;

/** Retries of a failing task that a user may ask for. */
export const maxRetries = 10;

/** Task records in one page of the object store. */
export const taskPageSize = 500;
/**
 * While the object store is unavailable, records wait in the job's state, at some 170 bytes each: with this many, a job grants no more
 * tasks, so that its state can still be carried into its next run.
 */
export const maxUnwrittenRecords = 3_000;

/**
 * An idle agent asks again this often while other agents of its job run tasks: a ninth of the lease, between these. Each request costs
 * the job's history a flush, and a lost instance is noticed only after a lease.
 */
export const minIdleClaimMs = 500;
export const maxIdleClaimMs = 10_000;

/** A job releases idle instances when no task has waited for this long: until then a task may be retried. */
export const shrinkAfterMs = 15_000;
