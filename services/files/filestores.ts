// Filestores: sequences of additions, each one object that is written whole, so all files of a task's attempt appear at once or not at all. The last
// attempt of a task counts; a later addition replaces an earlier one of the same path.
import { z } from 'zod';

import { RopewalkError } from '../../domain/errors.ts';
import { mapAtOnce } from '../../domain/map-at-once.ts';
import { randomId } from '../../platform/ids.ts';
import {
  addedFilesKey,
  filestorePrefix,
  jobFilesStart,
  namedFilestore,
  ownFilestore,
  taskFilesKey,
} from '../../platform/archive-keys.ts';
import { storedFile, type FilePage, type ListedFile, type StoredFile, type TaskFiles } from '../../schema/files.ts';
import { requireCreator } from '../auth/privacy.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context, Deps, InstanceContext } from '../context.ts';
import { parseObject } from '../damaged-objects.ts';
import { requireLiveOrStopping } from '../agents/live-instance.ts';
import { requireStored } from './require-stored.ts';
import { objectsAtOnce } from './objects-at-once.ts';
import { missingFiles } from './transfers.ts';

/** The filestore of a job's output, according to its specification; null when output is not stored. */
export const filestoreOf = (
  admissionId: string,
  { outputFilestore, storeFiles }: { outputFilestore: string | null; storeFiles: boolean },
): string | null => {
  if (outputFilestore !== null) return namedFilestore(outputFilestore);
  return storeFiles ? ownFilestore(admissionId) : null;
};

/** The filestore of a retry; a named filestore stays the same. */
export const filestoreOfRetry = (admissionId: string, before: string | null): string | null =>
  before?.startsWith(ownFilestore('')) === true ? ownFilestore(admissionId) : before;

/** Called by an agent; idempotent. A later attempt overrides the late addition of an abandoned attempt. */
export async function recordTaskFiles(
  context: InstanceContext,
  { task, taskId, attempt, files }: TaskFiles,
): Promise<{ missing: string[] }> {
  const { deps, actor } = context;
  const { workspace, job } = actor;
  await requireLiveOrStopping(context);
  const spec = job === null ? null : await deps.views.jobSpec(workspace, job);
  if (job === null || spec === null || spec.filestore === null) return { missing: [] };
  const missing = await missingFiles(deps, workspace, files);
  if (missing.length > 0) return { missing };
  const key = taskFilesKey(filestorePrefix(workspace, spec.filestore), { job, task, attempt });
  await writeAddition(deps, key, { v: 1, job, task: taskId, storedAt: new Date(deps.now()).toISOString(), files });
  return { missing: [] };
}

export async function listJobFiles(
  { deps, actor }: Context,
  { number, after }: { number: number; after?: string | undefined },
): Promise<FilePage> {
  requireScope(actor, 'read');
  const { record } = await deps.views.job(actor.workspace, number);
  requireCreator(actor, 'Job', record, 'may see its files');
  const spec = await deps.views.endedJobSpec(actor.workspace, number);
  if (spec === null || spec.filestore === null) return { items: [], next: null };
  return readPage(deps, `${filestorePrefix(actor.workspace, spec.filestore)}${jobFilesStart(number)}`, after);
}

/** A named filestore belongs to its workspace, so every member may read it. */
export async function listFilestore(
  { deps, actor }: Context,
  { name, after }: { name: string; after?: string | undefined },
): Promise<FilePage> {
  requireScope(actor, 'read');
  const page = await readPage(deps, filestorePrefix(actor.workspace, namedFilestore(name)), after);
  if (page.items.length > 0 || after !== undefined) return page;
  throw new RopewalkError({
    code: 'NOT_FOUND',
    message: `There is no filestore ${name} in this workspace.`,
    hint: 'A filestore exists as soon as a file is in it.',
  });
}

export async function addToFilestore(
  { deps, actor }: Context,
  { name, files }: { name: string; files: StoredFile[] },
): Promise<void> {
  requireScope(actor, 'write');
  await requireStored(deps, actor.workspace, { files, field: 'files' });
  const nowMs = deps.now();
  const prefix = filestorePrefix(actor.workspace, namedFilestore(name));
  const key = addedFilesKey(prefix, { nowMs, id: randomId('f').replaceAll('_', '') });
  await writeAddition(deps, key, { v: 1, job: null, task: null, storedAt: new Date(nowMs).toISOString(), files });
}

/** The current files of a named filestore, one for each path. */
export async function readFilestore(
  deps: Pick<Deps, 'objects' | 'damaged'>,
  workspace: string,
  name: string,
): Promise<StoredFile[]> {
  const prefix = filestorePrefix(workspace, namedFilestore(name));
  const all: ListedFile[] = [];
  for (let after: string | undefined; ;) {
    const { items, next } = await readPage(deps, prefix, after);
    all.push(...items);
    if (next === null) break;
    after = next;
  }
  const newest = new Map(
    all.toSorted((a, b) => Date.parse(a.storedAt) - Date.parse(b.storedAt)).map((file) => [file.path, file]),
  );
  return [...newest.values()].map(({ path, sha256, bytes, executable }) => ({ path, sha256, bytes, executable }));
}

const additionsOfPage = 200;

const addition = z.object({
  v: z.literal(1),
  job: z.number().nullable(),
  task: z.number().nullable(),
  storedAt: z.string(),
  files: z.array(storedFile),
});

const writeAddition = (deps: Pick<Deps, 'objects'>, key: string, value: z.output<typeof addition>): Promise<void> =>
  deps.objects.put(key, Buffer.from(JSON.stringify(value)));

async function readPage(
  { objects, damaged }: Pick<Deps, 'objects' | 'damaged'>,
  prefix: string,
  after: string | undefined,
): Promise<FilePage> {
  const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1);
  const from = after === undefined ? {} : { after: `${folder}${after}.json` };
  // One more than the page has: the last attempt is left out when the next key is a later attempt of the same task.
  const keys = await objects.list(prefix, { ...from, limit: additionsOfPage + 1 });
  const page = keys.slice(0, additionsOfPage);
  const last = page.filter(
    (key, index) => attemptOf(key) === null || attemptOf(key) !== attemptOf(keys[index + 1] ?? ''),
  );
  const additions = await mapAtOnce(last, objectsAtOnce, async (key): Promise<ListedFile[]> => {
    const bytes = await objects.get(key);
    const found =
      bytes === null ? null : parseObject(key, bytes, { parse: (json) => addition.parse(json), report: damaged });
    if (found === null) return [];
    const { job, task, storedAt, files } = found;
    return files.map((file) => ({ ...file, job, task, storedAt }));
  });
  const end = page.at(-1);
  const next = keys.length > page.length && end !== undefined ? end.slice(folder.length, -'.json'.length) : null;
  return { items: additions.flat(), next };
}

/** The part of a key that all attempts of one task share; null for a user's addition. */
const attemptOf = (key: string): string | null => /^.*-t\d+(?=-a\d+\.json$)/.exec(key)?.[0] ?? null;
