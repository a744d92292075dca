// Admissions, and the starts of admitted rows. Admissions of one workspace are serialized: those that arrive during a
// transaction are admitted together in the next one.
import { decideBatch } from '../domain/admission/batch.ts';
import { RopewalkError } from '../domain/errors.ts';
import { readBook, writeOutcome } from './admission-rows.ts';
import type { Database } from './database.ts';
import { takeNumbers } from './deployment.ts';
import { lockWorkspace } from './people-rows.ts';
import { admitWaiting, cancelWaiting } from './queue.ts';
import { claim, endUnclaimed, refused, started } from './starts.ts';
import type { AdmissionStore, Admitted, AdmitItem } from './admission-port.ts';
import type { Answer } from './answer.ts';
import type { Db } from './tables.ts';
import { noWorkspace } from './workspaces.ts';

/** Keeps a transaction, and on SQLite the event loop, short. */
const maxBatch = 100;

interface Waiting {
  item: AdmitItem;
  nowMs: number;
  resolve: (answer: Answer<Admitted>) => void;
  reject: (error: unknown) => void;
}

export function createAdmissionStore(database: Database): AdmissionStore {
  /** By workspace; absent where no admission is running. */
  const queues = new Map<string, Waiting[]>();
  return {
    admit: (item, nowMs) =>
      new Promise((resolve, reject) => {
        const waiting = { item, nowMs, resolve, reject };
        const queue = queues.get(item.workspace);
        if (queue !== undefined) {
          queue.push(waiting);
          return;
        }
        queues.set(item.workspace, [waiting]);
        void admitAll(database, queues, item.workspace);
      }),
    admitWaiting: (nowMs) => admitWaiting(database, nowMs),
    cancelWaiting: (number, reason, nowMs) => cancelWaiting(database, { number, reason }, nowMs),
    claim: (query) => claim(database, query),
    started: (kind, number) => started(database, kind, number),
    endUnclaimed: (item) => endUnclaimed(database, item),
    refused: (kind, number, reason, nowMs) => refused(database, { kind, number, reason }, nowMs),
  };
}

async function admitAll(database: Database, queues: Map<string, Waiting[]>, workspace: string): Promise<void> {
  for (let queue = queues.get(workspace); queue !== undefined && queue.length > 0; queue = queues.get(workspace)) {
    await admitTogether(database, workspace, queue.splice(0, maxBatch));
  }
  queues.delete(workspace);
}

/**
 * Never rejects. One request that the database refuses, such as a text with NUL, must not fail the others, so each is then
 * retried alone.
 */
async function admitTogether(database: Database, workspace: string, batch: Waiting[]): Promise<void> {
  try {
    const answers = await database.write((db) => admitBatch(database, db, { workspace, batch }));
    for (const [index, { resolve, reject }] of batch.entries()) {
      const answer = answers[index];
      if (answer === undefined) reject(new Error('An admission has no answer.'));
      else resolve(answer);
    }
  } catch (error) {
    if (batch.length > 1 && !(error instanceof RopewalkError)) {
      for (const each of batch) await admitTogether(database, workspace, [each]);
      return;
    }
    for (const { reject } of batch) reject(error);
  }
}

async function admitBatch(
  { engine }: Database,
  db: Db,
  { workspace: slug, batch }: { workspace: string; batch: Waiting[] },
): Promise<Answer<Admitted>[]> {
  const workspace = await lockWorkspace(db, engine, slug);
  if (workspace === null) return batch.map(() => ({ error: noWorkspace(slug) }));
  const items = batch.map(({ item }) => item);
  const book = await readBook(db, { workspace, engine }, items);
  // Decides first with placeholder numbers, to learn how many it takes; then with the real ones.
  const { made } = decideBatch(book, batch, (index) => -1 - index);
  const first = made.length === 0 ? 0 : await takeNumbers(db, made.length);
  const outcome = decideBatch(book, batch, (index) => first + index);
  await writeOutcome(db, slug, outcome);
  return outcome.answers;
}
