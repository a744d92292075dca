// The names of archived objects. Numbers are inverted so that an ascending listing shows the newest first.
const top = 1_000_000_000_000;

const inverted = (number: number): string => String(top - number).padStart(12, '0');

export const archivePrefix = (workspace: string, kind: 'jobs' | 'clusters'): string => `archive/${workspace}/${kind}/`;
export const archiveKey = (workspace: string, kind: 'jobs' | 'clusters', number: number): string =>
  `${archivePrefix(workspace, kind)}${inverted(number)}.json`;
export const numberOfArchiveKey = (key: string): number =>
  top - Number(key.slice(key.lastIndexOf('/') + 1, -'.json'.length));
export const taskPageKey = (workspace: string, job: number, page: number): string =>
  `archive/${workspace}/job-tasks/${inverted(job)}/${String(page).padStart(6, '0')}.json`;
export const specKey = (workspace: string, admissionId: string): string => `specs/${workspace}/${admissionId}.json`;
/** All that is sealed for jobs and clusters. */
export const sealedPrefix = 'vault/';
export const caKey = (workspace: string, admissionId: string): string => `vault/${workspace}/${admissionId}-ca.sealed`;
export const packageFileKey = (workspace: string, sha256: string): string =>
  `vault/${workspace}/packages/${sha256}.sealed`;
export const bundleKey = (workspace: string, admissionId: string): string => `vault/${workspace}/${admissionId}.sealed`;
