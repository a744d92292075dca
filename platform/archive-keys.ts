// The names of objects. Numbers of jobs are inverted, so that an ascending listing shows the newest first.
const top = 1_000_000_000_000;

const inverted = (number: number): string => String(top - number).padStart(12, '0');

export const taskPageKey = (workspace: string, job: number, page: number): string =>
  `archive/${workspace}/job-tasks/${inverted(job)}/${String(page).padStart(6, '0')}.json`;
export const specKey = (workspace: string, admissionId: string): string => `specs/${workspace}/${admissionId}.json`;
/** All that is sealed for jobs and clusters. */
export const sealedPrefix = 'vault/';
export const caKey = (workspace: string, admissionId: string): string => `vault/${workspace}/${admissionId}-ca.sealed`;
export const packageFileKey = (workspace: string, sha256: string): string =>
  `vault/${workspace}/packages/${sha256}.sealed`;
export const bundleKey = (workspace: string, admissionId: string): string => `vault/${workspace}/${admissionId}.sealed`;
