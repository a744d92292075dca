// The names of objects. Job numbers are inverted: an ascending listing shows the newest first.
const top = 1_000_000_000_000;

const inverted = (number: number): string => String(top - number).padStart(12, '0');

export const taskPageKey = (workspace: string, job: number, page: number): string =>
  `archive/${workspace}/job-tasks/${inverted(job)}/${String(page).padStart(6, '0')}.json`;
export const specKey = (workspace: string, admissionId: string): string => `specs/${workspace}/${admissionId}.json`;
/** All sealed objects of jobs and clusters. */
export const sealedPrefix = 'vault/';
export const caKey = (workspace: string, admissionId: string): string => `vault/${workspace}/${admissionId}-ca.sealed`;
export const environmentKey = (workspace: string, name: string, id: string): string =>
  `vault/${workspace}/environments/${segmentOf(name)}/${id}.sealed`;
/** Keys have no capital letters, and no name starts with "_". */
const segmentOf = (name: string): string =>
  name === name.toLowerCase() ? name : `_${Buffer.from(name).toString('hex')}`;
export const packageFileKey = (workspace: string, sha256: string): string =>
  `vault/${workspace}/packages/${sha256}.sealed`;
export const bundleKey = (workspace: string, admissionId: string): string => `vault/${workspace}/${admissionId}.sealed`;

/**
 * Content of users' and tasks' files by its SHA-256. Not sealed, because users and instances transfer it directly to and from a
 * bucket.
 */
export const blobKey = (workspace: string, sha256: string): string => `${blobsPrefix}${workspace}/${sha256}`;
export const blobsPrefix = 'files/';
/** Lists of files: one object for each attempt of a task, or for each addition by a user. */
export const filestorePrefix = (workspace: string, filestore: string): string =>
  `${filestoresPrefix}${workspace}/${filestore}/`;
export const filestoresPrefix = 'filestores/';
export const namedFilestore = (name: string): string => `named/${name}`;
/** The filestore of a job that names none. */
export const ownFilestore = (admissionId: string): string => `own/${admissionId}`;
/** Ascending keys list the tasks of a job in order, and the attempts of each task. */
export const taskFilesKey = (
  prefix: string,
  { job, task, attempt }: { job: number; task: number; attempt: number },
): string => `${prefix}${jobFilesStart(job)}t${padded(task, 9)}-a${padded(attempt, 4)}.json`;
export const jobFilesStart = (job: number): string => `j${padded(job, 12)}-`;
export const addedFilesKey = (prefix: string, { nowMs, id }: { nowMs: number; id: string }): string =>
  `${prefix}u${padded(nowMs, 15)}-${id}.json`;

const padded = (number: number, digits: number): string => String(number).padStart(digits, '0');

/** All archives of one environment on one platform. */
export const environmentArchivePrefix = (workspace: string, build: string): string =>
  `environments/${workspace}/${build}/`;
export const environmentArchiveKey = (workspace: string, build: string, sha256: string): string =>
  `${environmentArchivePrefix(workspace, build)}${sha256}`;

/** Address and secret of a webhook, sealed. */
export const webhookKey = (workspace: string, id: string): string => `vault/${workspace}/webhook-${id}.sealed`;

/** The submission of a schedule, sealed. */
export const scheduleKey = (workspace: string, id: string): string => `vault/${workspace}/schedule-${id}.sealed`;
