// Limits of HTTP requests: body sizes, rates, connections, and numbers in requests.

/** Maximum bytes of a request body, and of a job's bundle of scripts and files. */
export const maxBodyBytes = 16 * 1024 * 1024;
/** Maximum bytes of a request body without files: a cluster's variables and options, an agent's results, everything else. */
export const maxClusterBodyBytes = 4 * 1024 * 1024;
export const maxAgentBodyBytes = 4 * 1024 * 1024;
export const maxSmallBodyBytes = 64 * 1024;
/** For a caller without a token: two codes, or the form of a sign-in page. */
export const maxAnonymousBodyBytes = 4 * 1024;

/**
 * Larger bodies, agents' bodies included, wait for the body memory of an API process. One workspace may use half of it, one user, or the agents of
 * one cluster, a quarter. Measured by `npm run bench -- memory`.
 */
export const countedBodyBytes = 16 * 1024;
export const bodyMemoryBytes = 64 * 1024 * 1024;
export const bodyMemoryShares = { workspaceBytes: bodyMemoryBytes / 2, callerBytes: bodyMemoryBytes / 4 };
/** Maximum number of one workspace's requests that wait for body memory, each with a connection and the buffer of its socket. */
export const maxWaitingBodies = 1_000;
export const bodyMemoryWaitMs = 20_000;
/** Measured at this interval while a counted body arrives. 16 MiB within `requestBodyMs` need nine times this rate. */
export const minBodyBytesPerSecond = 16 * 1024;
export const bodyRateEveryMs = 2_500;

/** Maximum requests of one user to one API process, unless the operator sets another number: far more than any of our programs sends. */
export const defaultRequestsPerSecond = 500;
export const defaultRequestBurst = 5_000;
export const defaultOpenStreams = 100;
/**
 * Maximum bytes of counted bodies from one user, or from the agents of one cluster. A MiB takes 40 to 130 ms of the event loop (measured: parse,
 * check, seal, write), so a caller who sends without pause uses at most about a fifth of it.
 */
export const defaultBodyBytesPerSecond = 2 * 1024 * 1024;
export const defaultBodyBytesBurst = 64 * 1024 * 1024;

/** Maximum connections of one API process: one for each of a thousand instances, and those of clients. */
export const defaultMaxConnections = 10_000;
/** Time for the headers of a request, and for the whole request: 16 MiB in two minutes is a megabit a second. */
export const requestHeadersMs = 10_000;
export const requestBodyMs = 120_000;
/** Maximum pending polls for orders of one instance: the current one, and those of connections that the instance has closed. */
export const maxHeldOrders = 10;

/** Maximum nesting of a free-form value, because its readers may use recursion. */
export const maxValueDepth = 32;
/** Maximum nesting of a counted JSON body, checked before it is parsed: known fields add some levels to a free-form value. */
export const maxJsonDepth = 40;
/** Each key costs microseconds to check. No map of ours, environment variables included, has as many. */
export const maxJsonKeys = 5_000;
/**
 * Additional bytes for which a list or an object of a counted body counts: parsing and checking one takes two microseconds, as long as some forty
 * characters. A million of them, as a job may have, are within the burst.
 */
export const jsonPartBytes = 40;
/** A job's tasks are the longest list. */
export const maxJsonItems = 1_000_000;
/** Bounds of numbers from agents: amounts and ordinals. */
export const maxAmount = 1_000_000_000;
/** Maximum of an agent's reported bytes: a pebibyte, more than any cluster's memory, and exact as a number. */
export const maxBytesSaid = 2 ** 50;
export const maxOrdinal = 1_000_000_000_000;
/** The last millisecond of the year 9999, the last year of RFC 3339. */
export const maxTimeMs = 253_402_300_799_999;
