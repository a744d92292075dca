// Short helpers that create the inputs of the store's tests.
import type { ClusterView } from '../../contracts/cluster.ts';
import type { JobView } from '../../contracts/job.ts';
import type { WorkspaceLimits } from '../../domain/quota/state.ts';
import type { Store } from '../../store/store.ts';
import type { AdmitItem, Admitted } from '../../store/admission-port.ts';
import type { Answer } from '../../store/answer.ts';
import type { JobSchedule } from '../../store/schedule-port.ts';

/** Two stores on one database, as two processes have them; for a database in memory the same store twice. */
export interface Stores {
  store: Store;
  other: Store;
}

export interface Backend {
  /** On a new and empty database. */
  open: () => Promise<Stores & { close: () => Promise<void> }>;
}

let count = 0;
/** Every workspace, name, key and id of the tests is unique. */
export const unique = (prefix: string): string => `${prefix}-${(count += 1)}`;

/** The newest day: times of the tests count from here. */
export const startMs = 1_750_000_000_000;

export function valueOf<T>(answer: Answer<T>): T {
  if ('error' in answer) throw new Error(`${answer.error.code}: ${answer.error.message}`);
  return answer.ok;
}

export const codeOf = (answer: Answer<unknown>): string | null => ('error' in answer ? answer.error.code : null);

export interface TestWorkspace {
  slug: string;
  /** Of its first admin, `ada`. */
  admin: { user: string; tokenId: string };
}

export async function addWorkspace(store: Store, limits: Partial<WorkspaceLimits> = {}): Promise<TestWorkspace> {
  const slug = unique('w');
  const token = { id: unique('t'), secretHash: 'a'.repeat(64), expiresAtMs: null };
  valueOf(await store.workspaces.create({ slug, admin: { name: 'ada', token }, nowMs: startMs }));
  if (Object.keys(limits).length > 0) {
    valueOf(await store.workspaces.configure(slug, { limits, by: null }, startMs));
  }
  return { slug, admin: { user: 'ada', tokenId: token.id } };
}

export const anItem = (workspace: string, over: Partial<AdmitItem> = {}): AdmitItem => ({
  workspace,
  admissionId: unique('adm'),
  idempotencyKey: unique('key'),
  bodyHash: 'b'.repeat(64),
  kind: 'job',
  name: '',
  getOrCreate: false,
  privateToCreator: false,
  specRef: 'specs/one.json',
  command: 'python train.py',
  user: 'ada',
  instances: 1,
  vcpus: 1,
  workerVcpus: 1,
  estimate: { microsPerHour: 0, totalMicros: 0 },
  ...over,
});

export async function admitted(store: Store, workspace: string, over: Partial<AdmitItem> = {}): Promise<Admitted> {
  return valueOf(await store.admissions.admit(anItem(workspace, over), startMs));
}

/** Admitted, and its workflow started. */
export async function opened(store: Store, workspace: string, over: Partial<AdmitItem> = {}): Promise<Admitted> {
  const made = await admitted(store, workspace, over);
  await store.admissions.started(over.kind ?? 'job', made.number);
  return made;
}

/** The fields that the store reads; views have more. */
export const aJobView = (workspace: string, number: number, over: Partial<JobView> = {}): JobView =>
  ({
    ...{ number, workspace, name: `job-${number}`, user: 'ada', command: 'python train.py', status: 'running' },
    ...{ instances: 1, submittedAtMs: startMs, endedAtMs: null, ...over },
  }) as JobView;

export const aClusterView = (workspace: string, number: number, over: Partial<ClusterView> = {}): ClusterView =>
  ({
    ...{ number, workspace, name: `cluster-${number}`, user: 'ada', job: null, status: 'ready', target: 2 },
    ...{ instances: [], createdAtMs: startMs, endedAtMs: null, ...over },
  }) as unknown as ClusterView;

export const aSchedule = (workspace: string, over: Partial<JobSchedule> = {}): JobSchedule => ({
  ...{ id: unique('sch'), workspace, name: unique('nightly'), cron: '0 3 * * *', timezone: 'UTC', overlap: 'skip' },
  ...{ isPaused: false, stopped: null, user: 'ada', userId: 'usr_1', command: 'true', lastJob: null, version: 1 },
  ...{ isDeleted: false, createdAtMs: startMs, ...over },
});

/** The same effect, started `times` times at once, every second one through the other store. */
export const atOnce = <T>(times: number, { store, other }: Stores, run: (store: Store, index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: times }, (_, index) => run(index % 2 === 0 ? store : other, index)));

/** Without vitest: processes that the tests start import this file, too. */
export function expectOne<T>(values: readonly T[], isWinner: (value: T) => boolean): void {
  const winners = values.filter(isWinner).length;
  if (winners !== 1) throw new Error(`${winners} of ${values.length} won: ${JSON.stringify(values)}`);
}
