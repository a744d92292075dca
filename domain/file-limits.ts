// Limits of the files that jobs get and leave behind.

/** Bytes of a file of a job: S3 takes no larger one in a single PUT. */
export const maxFileBytes = 5 * 1024 ** 3;
/** The same where files go through the API, which takes each in one request of at most two minutes. */
export const maxApiFileBytes = 1024 ** 3;
/** Files that go through one API process at a time: each holds a connection and a file, and little memory. */
export const maxFileStreams = 32;
export const maxInputFiles = 10_000;
export const maxFilesOfTask = 10_000;
/** Files in one request for signed URLs. */
export const maxFilesAtOnce = 500;
/** How long a signed URL can be used. */
export const signedUrlSeconds = 3_600;
