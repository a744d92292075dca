// Every bound of the system, with its unit and its reason. Nothing loops, queues, buffers or waits without one.

/** Longest time an answer of ours may be awaited before the caller gets TIMEOUT. */
export const updateDeadlineMs = 10_000;

/** A killed Temporal worker stalls a workflow task this long; a shorter time makes busy machines replay instead of work. */
export const workflowTaskTimeoutMs = 5_000;

/**
 * Events after which a run continues as new: some 0.2 s of replay on one busy core, where a workflow task has 5 s. A Temporal worker
 * that is restarted replays each open workflow that it hears of. Temporal itself suggests it at 4,096.
 */
export const maxEventsOfRun = 1_000;
/**
 * The same for a run that is older than this. 1,000 open jobs are 1,000 replays when a Temporal worker starts, at some 0.2 ms an
 * event (bench `restart`). A run continues for this reason at most every ten minutes.
 */
export const maxEventsOfOldRun = 120;
export const oldRunAfterMs = 600_000;

/** Tasks in one job. A larger array wants shards, which come later. */
export const maxTasks = 20_000;

/** Instances of one job or cluster unless the user says otherwise (seed 004: "up to 1,000 VMs"). */
export const defaultMaxWorkers = 1_000;

/** Items and bytes in one group-committed update: a 2.5 MB argument fails the workflow task and stalls everyone. */
export const maxFlushItems = 500;
export const maxFlushBytes = 256 * 1024;

/** Items waiting for a flush in one API process, per workflow, before callers get TOO_BUSY. */
export const maxFlushQueue = 5_000;

/** How long a group commit waits for company: it grows with task time between these. */
export const minFlushWindowMs = 25;
export const maxFlushWindowMs = 2_000;

/** A lease not renewed for this long is suspected. Agents renew at a third of it. */
export const defaultLeaseMs = 90_000;
export const minLeaseMs = 1_000;
/**
 * The lease of a task that has run for long grows to a quarter of that time, up to this: each renewal costs the job five events, and
 * a task that has run for an hour loses little when its end is noticed some minutes later.
 */
export const maxGrownLeaseMs = 600_000;

/** How many times a silent but existing instance gets another lease period before its task moves on. */
export const maxLeaseExtensions = 2;

/** Leases of short tasks that one agent may hold, with the running one: enough to make an exchange cheap, little to hand back. */
export const maxHeldLeases = 100;
/** The same over all agents of a job: its state must stay small enough to be carried on, at some 200 bytes a lease. */
export const maxLeasesAhead = 2_000;

/**
 * A task whose attempts end with their instance, for an unknown reason, may be the reason. It is given up after this many losses
 * within the window, or after `maxLostAttemptsEver` in all, so that a task that takes long to do so ends too.
 */
export const maxLostAttempts = 3;
export const lostAttemptsWindowMs = 24 * 3_600_000;
export const maxLostAttemptsEver = 10;

/** Instances that a job remembers to have lost, at some 100 bytes each: more than any cluster has at a time. */
export const maxLostRemembered = 2_000;

/** Retries of a failing task that a user may ask for. */
export const maxRetries = 10;

/** Task records per archive page, and how many the job's state may hold before a page must be written. */
export const taskPageSize = 500;
/**
 * While the object store is unavailable, records wait in the job's state, at some 170 bytes each: with this many, a job grants no more
 * tasks, so that its state can still be carried into its next run.
 */
export const maxUnwrittenRecords = 4_000;

/**
 * An idle agent asks again this often while its job still has tasks out elsewhere: a ninth of the lease, between these.
 * Each question costs the job's history a flush, and what it waits for, a lost instance, takes a lease to be known.
 */
export const minIdleClaimMs = 500;
export const maxIdleClaimMs = 10_000;

/** An instance that has not registered this long after its launch is terminated and replaced. */
export const registerTimeoutMs = 120_000;
/** A cloud's machine has to boot and fetch its agent first: Karpenter gives one 15 minutes, users less patience. */
export const cloudRegisterTimeoutMs = 600_000;
/**
 * Between the two checks after which such an instance is given up: agents retry every few seconds, and a timer that fires at the end
 * of an outage must not overtake their registrations.
 */
export const registrationRecheckMs = 30_000;

/**
 * Instances of one slot that may fail one after the other before the slot is given up with its reason. One that has worked
 * for the window after it registered ends the row.
 */
export const maxSlotFailures = 5;
export const slotFailureWindowMs = 600_000;
/** Those that never register fail slowly, each after its whole time-out, and cost money meanwhile. */
export const maxNeverRegistered = 4;

/**
 * What a slot waits for its next instance after one, two, three and four failures in a row. On a cloud, so long that a
 * trouble of half an hour costs four instances a slot and not the slot itself; here instances cost nothing.
 */
export const cloudSlotPausesMs: readonly number[] = [0, 15_000, 120_000, 1_800_000];
export const localSlotPausesMs: readonly number[] = [0, 2_000, 10_000, 30_000];

/** An instance that its cloud took back is taken for gone so long after the announced time, if it has not said so itself. */
export const interruptedGraceMs = 30_000;

/** An agent that the API has not heard for this long is suspected: three of its signs of life are missing. */
export const silentAfterMs = 120_000;
/** A poll for orders is held this long: proxies and load balancers take a connection for dead after 60 s. */
export const maxHeldMs = 50_000;
/** Agents of jobs say that they live this often; the API keeps it. */
export const aliveEveryMs = 40_000;
/** A cluster inspects its instances by itself this often, whatever the API knows: 16 events of its history each time. */
export const ownCheckEveryMs = 6 * 3_600_000;
/** The first time this long after an instance registered; those that registered within one period are inspected together. */
export const firstOwnCheckAfterMs = 900_000;
export const firstOwnCheckGridMs = 300_000;
/** An agent's call that hangs is given up after this (the API answers within 10 s), and tried again after such a pause. */
export const agentAttemptMs = 20_000;
export const agentMaxPauseMs = 5_000;
/** Silent, and unknown to its cloud so many times in a row: it ended long ago, and its cloud has forgotten it. */
export const maxMissing = 2;

/** What a cloud could not give is not asked for again for this long (Karpenter's memory of unavailable offerings: 3 min). */
export const unavailableOfferMs = 180_000;

/** Back-off after a failed launch, doubling between these. */
export const minLaunchBackoffMs = 2_000;
export const maxLaunchBackoffMs = 60_000;

/** Whoever waits for capacity asks again after a pause that grows between these. */
export const minCapacityPauseMs = 10_000;
export const maxCapacityPauseMs = 300_000;
/** A wait that is longer than anybody means. */
export const maxCapacityWaitMs = 30 * 86_400_000;

/**
 * A launch that a cloud refuses for a reason that we do not know is tried again so often in a row, five minutes with its
 * back-off, before its slots are given up with that reason. As often is one repeated whose outcome such an answer hides.
 */
export const maxUnknownLaunches = 10;

/** When more than this share of at least `massLossMinimum` instances look lost at once, alarm instead of replacing. */
export const massLossShare = 0.45;
export const massLossMinimum = 3;

/** An instance that exists but stays silent this many inspections in a row, while our own link works, is lost. */
export const maxSilentInspections = 3;

/** Bytes of a request body, and of a job's bundle of scripts and files. */
export const maxBodyBytes = 16 * 1024 * 1024;

/**
 * Bodies larger than this wait for room in an API process, agents' bodies too. A process takes so much of them at a time: of
 * one workspace half of it, of one user, or of one cluster's agents, a quarter. What that comes to: `npm run bench -- memory`.
 */
export const countedBodyBytes = 16 * 1024;
export const bodyMemoryBytes = 64 * 1024 * 1024;
export const bodyMemoryShares = { workspaceBytes: bodyMemoryBytes / 2, callerBytes: bodyMemoryBytes / 4 };
/** Requests of one workspace that wait for room, each with a connection and what its socket has buffered. */
export const maxWaitingBodies = 1_000;
/** Measured this often while a counted body arrives. 16 MiB within `requestBodyMs` need nine times as much. */
export const minBodyBytesPerSecond = 16 * 1024;
export const bodyRateEveryMs = 2_500;
export const bodyMemoryWaitMs = 20_000;

/** Bounds of numbers that agents send: how many of anything there are, and how high anything is numbered. */
export const maxAmount = 1_000_000_000;
export const maxOrdinal = 1_000_000_000_000;
/** The last millisecond of the year 9999, with which RFC 3339 ends. */
export const maxTimeMs = 253_402_300_799_999;
/** AWS announces the interruption of a spot instance 2 minutes before it, Google Cloud 30 seconds. */
export const maxInterruptionNoticeMs = 3_600_000;

/** Events kept in a view; older ones are in the archive. */
export const maxEventsKept = 50;

/** Of a default disk of 30 GiB: files of tasks that are over, on an instance whose lines have been sent elsewhere. */
export const maxClosedLogBytes = 2 * 1024 * 1024 * 1024;

/** Instance tokens live this long and are renewed in answers when half of it has passed. */
export const instanceTokenTtlMs = 2 * 3_600_000;
export const launchTokenTtlMs = 24 * 3_600_000;
/** An instance may come back with its expired token for this long: a laptop that slept over a holiday is no outage. */
export const maxAwayMs = 30 * 86_400_000;

/** A link to a dashboard is opened at once or asked for again; what it is exchanged for lasts a working day. */
export const dashboardLinkTtlMs = 5 * 60_000;
export const dashboardSessionTtlMs = 8 * 3_600_000;

/**
 * An agent that nobody has answered for this long ends its work, so that nothing runs for ever when we are gone for good.
 * Longer than any restart or upgrade of ours; an outage that is longer costs the work under way, never results on record.
 */
export const defaultWatchdogTimeoutMs = 30 * 60_000;
export const minWatchdogTimeoutMs = 5_000;
export const maxWatchdogTimeoutMs = 7 * 86_400_000;

/** What a job or cluster is started with lies sealed so long, which is how long it may live: no new instance begins after. */
export const sealedForDays = 397;
export const longestClusterMs = sealedForDays * 86_400_000;

/**
 * A revoked token is refused everywhere after `tokenMaxAgeMs`, the age at which a process reads it again. What goes on for
 * long, a stream or a dashboard, checks its token every `accessCheckEveryMs`, and so ends within `revocationFeltWithinMs`.
 */
export const revocationFeltWithinMs = 3_500;
export const tokenMaxAgeMs = 1_000;
export const accessCheckEveryMs = 2_000;

/** Signing in on a device: how long its code is good, how often it asks, and how many wrong codes a person may type. */
export const deviceLoginTtlMs = 600_000;
export const deviceLoginIntervalMs = 2_000;
/** How long the token of a device works: by default, and at most. */
export const defaultDeviceTokenMs = 30 * 86_400_000;
export const maxDeviceTokenMs = 365 * 86_400_000;
export const maxWrongUserCodes = 10;
/** Logins that wait at a time, as one API process has begun them: nobody has signed in yet, so anybody may ask. */
export const maxDeviceLogins = 1_000;
/** Of them from one address within `deviceLoginTtlMs`: an office behind one address, not a flood. */
export const maxDeviceLoginsOfAddress = 60;

/** The sweep looks this often for instances that no open workflow claims. */
export const sweepEveryMs = 5 * 60_000;

/** An orphan is ended when it was seen unowned this long ago and is so still: shorter than the period, for clocks jump. */
export const sweepGraceMs = 4 * 60_000;

/** What was made for a launch may be wanted by it for so long: twice what one attempt of one may take. */
export const launchMayLastMs = 10 * 60_000;

/**
 * What was sealed and has been expired for this long is deleted by the sweep: nobody can open it, so this is for clocks that
 * jump alone. A round looks at so many, and reads little more than so many bytes.
 */
export const expiredKeptMs = 7 * 86_400_000;
export const maxExpiredLooks = 500;
export const maxExpiredBytes = 64 * 1024 * 1024;

/** Clusters described at once by the sweep: a namespace has a rate limit that others need too. */
export const sweepDescribeAtOnce = 10;

/** A job gives idle instances back when no task has waited for this long: until then one may be tried again. */
export const shrinkAfterMs = 15_000;

/** Bytes of a request body where no files travel: a cluster's variables and options, an agent's results, all else. */
export const maxClusterBodyBytes = 4 * 1024 * 1024;
export const maxAgentBodyBytes = 4 * 1024 * 1024;
export const maxSmallBodyBytes = 64 * 1024;
/** Of a caller without a token: two codes, or the form of a sign-in page. */
export const maxAnonymousBodyBytes = 4 * 1024;

/** Of one environment: a whole Python environment has some hundred packages, a few of which are a user's own. */
export const maxRequirements = 1_000;
export const maxPackageFiles = 200;
export const maxIndexes = 10;
/** Hints about more would be of no use; a whole conda distribution has this many packages. */
export const maxLeftOut = 300;

/** How deep a value of free form may nest: whoever reads it later may do so by recursion. */
export const maxValueDepth = 32;

/** What one user may ask of one API process unless the operator says otherwise: far more than any program of ours does. */
export const defaultRequestsPerSecond = 500;
export const defaultRequestBurst = 5_000;
export const defaultOpenStreams = 100;
/**
 * Bytes of counted bodies that one user, or the agents of one cluster, may send. A MiB takes 40 to 130 ms of the event loop
 * (measured: parse, check, seal, write), so that a caller who sends on and on takes at most about a fifth of it.
 */
export const defaultBodyBytesPerSecond = 2 * 1024 * 1024;
export const defaultBodyBytesBurst = 64 * 1024 * 1024;
/** Orders that one instance may have held for it: one, and those of connections that it has given up. */
export const maxHeldOrders = 10;

/** Connections of one API process: a thousand instances hold one each, with company. */
export const defaultMaxConnections = 10_000;
/** How long the headers of a request may take, and all of it: 16 MiB in two minutes is a megabit a second. */
export const requestHeadersMs = 15_000;
export const requestBodyMs = 120_000;

/** A scheduler that is busy with a huge graph may need minutes; tests need seconds. */
export const minUnresponsiveMs = 5_000;

/**
 * What is left of an instance on this machine goes so long after it was last written to: a day is enough to see why one
 * failed (logs are kept elsewhere), and every look reads what is there. That its launch has been goes after longer than a
 * cluster may live: until then a repeat of that launch starts nothing.
 */
export const endedInstanceKeptMs = 86_400_000;
export const endedMarkKeptMs = 400 * 86_400_000;
/** Looked for after a launch, at most this often and at so many at a time. */
export const removeEndedEveryMs = 60_000;
export const maxEndedLooks = 500;
