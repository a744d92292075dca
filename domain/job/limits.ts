// Limits of a job: its tasks, leases, attempts and records.

/**
 * Maximum number of tasks in one job. A job's state does not grow with them, except for sets of tasks at one bit each: task-set.ts, and
 * `indicesOfPlace` in array.ts, are designed for this number.
 */
export const maxTasks = 1_000_000;
/** Maximum characters of array syntax in a request; a job's state carries it in full. */
export const maxArrayChars = 80_000;

/** Maximum number of instances of one job, unless the user sets another. */
export const defaultMaxWorkers = 1_000;

/** A lease that is not renewed for this long is suspected. Agents renew after a third of it. */
export const defaultLeaseMs = 90_000;
export const minLeaseMs = 1_000;
/**
 * A long-running task's lease period grows to a quarter of its running time, up to this limit: each renewal costs the job five events, and for a task
 * that has run for an hour, a delay of some minutes before its end is noticed matters little.
 */
export const maxGrownLeaseMs = 600_000;

/** How many extra lease periods a silent but existing instance gets before its task is granted to another instance. */
export const maxLeaseExtensions = 2;

/** Maximum number of leases of short tasks that one agent holds, with the running one: enough to make an exchange cheap, few to return. */
export const maxHeldLeases = 100;
/** The same for all agents of a job together: its state must stay small enough for continue-as-new, at some 200 bytes a lease. */
export const maxLeasesAhead = 2_000;

/**
 * A task whose attempts end with their instance, for an unknown reason, may be the cause. It fails after this many losses within the window, or after
 * `maxLostAttemptsEver` in total, which also ends a task whose losses are far apart.
 */
export const maxLostAttempts = 3;
export const lostAttemptsWindowMs = 24 * 3_600_000;
export const maxLostAttemptsEver = 10;

/** Maximum number of lost instances in a job's state, at some 100 bytes each: more than any cluster has at a time. */
export const maxLostRemembered = 2_000;

/** Maximum number of retries of a failing task that a user may request. */
export const maxRetries = 10;

/** Task records in one page in the object store. */
export const taskPageSize = 500;
/**
 * While the object store is unavailable, records wait in the job's state, at some 170 bytes each. With this many, a job grants no more tasks, so its
 * state can still be carried into its next run.
 */
export const maxUnwrittenRecords = 3_000;

/**
 * An idle agent asks again at this interval while other agents of its job run tasks: a ninth of the lease, between these limits. Each request costs
 * the job's history a flush, and a lost instance is noticed only after a lease.
 */
export const minIdleClaimMs = 500;
export const maxIdleClaimMs = 10_000;

/** A job releases idle instances when no task has waited for this long, because tasks may be retried until then. */
export const shrinkAfterMs = 15_000;
