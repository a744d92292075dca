// Limits of the input and output files of jobs.

/** Maximum size of a job's file: S3's limit for a single PUT. */
export const maxFileBytes = 5 * 1024 ** 3;
/** The same where files pass through the API, which receives each in one request of at most two minutes. */
export const maxApiFileBytes = 1024 ** 3;
/** Maximum number of files that pass through one API process at a time: each holds a connection and a file, and little memory. */
export const maxFileStreams = 32;
export const maxInputFiles = 10_000;
/** Maximum bytes of a job's list of inputs in the object store: each instance downloads all of it, and keeps a position of each line in memory. */
export const maxInputListBytes = 256 * 1024 ** 2;
export const maxFilesOfTask = 10_000;
/** Maximum number of files in one request for signed URLs. */
export const maxFilesAtOnce = 500;
/** Lifetime of a signed URL. */
export const signedUrlSeconds = 3_600;
