// Limits of HTTP requests: their bodies, rates and connections, and the numbers in them.

/** Bytes of a request body, and of a job's bundle of scripts and files. */
export const maxBodyBytes = 16 * 1024 * 1024;
/** Bytes of a request body where no files travel: a cluster's variables and options, an agent's results, all else. */
export const maxClusterBodyBytes = 4 * 1024 * 1024;
export const maxAgentBodyBytes = 4 * 1024 * 1024;
export const maxSmallBodyBytes = 64 * 1024;
/** Of a caller without a token: two codes, or the form of a sign-in page. */
export const maxAnonymousBodyBytes = 4 * 1024;

/**
 * Bodies larger than this wait for the body memory of an API process, agents' bodies too. A process takes so much of them at a time:
 * of one workspace half of it, of one user, or of one cluster's agents, a quarter. Measured by `npm run bench -- memory`.
 */
export const countedBodyBytes = 16 * 1024;
export const bodyMemoryBytes = 64 * 1024 * 1024;
export const bodyMemoryShares = { workspaceBytes: bodyMemoryBytes / 2, callerBytes: bodyMemoryBytes / 4 };
/** Requests of one workspace that wait for body memory, each with a connection and what its socket has buffered. */
export const maxWaitingBodies = 1_000;
export const bodyMemoryWaitMs = 20_000;
/** Measured this often while a counted body arrives. 16 MiB within `requestBodyMs` need nine times as much. */
export const minBodyBytesPerSecond = 16 * 1024;
export const bodyRateEveryMs = 2_500;

/** Requests of one user to one API process unless the operator says otherwise: far more than any program of ours sends. */
export const defaultRequestsPerSecond = 500;
export const defaultRequestBurst = 5_000;
export const defaultOpenStreams = 100;
/**
 * Bytes of counted bodies that one user, or the agents of one cluster, may send. A MiB takes 40 to 130 ms of the event loop
 * (measured: parse, check, seal, write), so that a caller who never stops sending takes at most about a fifth of it.
 */
export const defaultBodyBytesPerSecond = 2 * 1024 * 1024;
export const defaultBodyBytesBurst = 64 * 1024 * 1024;

/** Connections of one API process: one for each of a thousand instances, and those of clients. */
export const defaultMaxConnections = 10_000;
/** How long the headers of a request may take, and all of it: 16 MiB in two minutes is a megabit a second. */
export const requestHeadersMs = 10_000;
export const requestBodyMs = 120_000;
/** Pending polls for orders of one instance: the current one, and those of connections that the instance has closed. */
export const maxHeldOrders = 10;

/** How deep a value of free form may nest: its readers may use recursion. */
export const maxValueDepth = 32;
/** Of the JSON of a counted body, looked for before it is parsed: known fields add some levels to a value of free form. */
export const maxJsonDepth = 40;
/** Each key costs microseconds to check. No map of ours, variables of an environment included, has as many. */
export const maxJsonKeys = 5_000;
/**
 * Bytes as which a list or an object of a counted body counts, besides its own: to parse and check one takes two microseconds, as some
 * forty characters do. A million of them, as a job may have, are less than the burst.
 */
export const jsonPartBytes = 40;
/** Tasks of a job are the longest list. */
export const maxJsonItems = 1_000_000;
/** Bounds of numbers that agents send: how many of anything exist, and how high anything is numbered. */
export const maxAmount = 1_000_000_000;
/** Bytes that an agent may say it has or uses: a pebibyte, beyond the memory of any cluster, and exact as a number. */
export const maxBytesSaid = 2 ** 50;
export const maxOrdinal = 1_000_000_000_000;
/** The last millisecond of the year 9999, with which RFC 3339 ends. */
export const maxTimeMs = 253_402_300_799_999;
