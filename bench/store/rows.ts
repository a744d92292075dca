// Many ended jobs, with views the size of a job's with a few errors, written without admissions.
import type { Database } from '../../store/database.ts';
import { newRecord } from '../../store/record-rows.ts';

const perInsert = 200;

/** `isEnded`: none of them is open. */
export async function fill(
  database: Database,
  workspace: string,
  rows: number,
  { isEnded = false } = {},
): Promise<void> {
  for (let from = 1; from <= rows; from += perInsert) {
    const numbers = Array.from({ length: Math.min(perInsert, rows - from + 1) }, (_, index) => from + index);
    await database.write(async (db) => {
      await db
        .insertInto('records')
        .values(numbers.map((number) => aRow(workspace, number, { rows, isEnded })))
        .execute();
    });
  }
}

function aRow(workspace: string, number: number, { rows, isEnded }: { rows: number; isEnded: boolean }) {
  const status =
    !isEnded && number % 500 === 0
      ? 'running'
      : number % 101 === 0
        ? 'cancelled'
        : number % 13 === 0
          ? 'error'
          : 'done';
  const user = `user-${number % 100}`;
  const command = `python ${number % 3 === 0 ? 'train' : 'evaluate'}.py --epoch ${number}${number === Math.floor(rows / 3) ? ' --needle' : ''}`;
  const record = newRecord({
    ...{ kind: 'job', number, workspace, name: `job-${number}`, user, command, specRef: `specs/w/${number}.json` },
    ...{ state: status === 'running' ? 'open' : 'ended', admissionId: `adm_${number}`, privateToCreator: false },
    ...{ instances: 1, createdAtMs: number * 1_000 },
  });
  const recentErrors = Array.from({ length: 10 }, (_, task) => ({
    task,
    attempt: 1,
    text: 'x'.repeat(150),
    atMs: number,
  }));
  const view = { number, workspace, name: record.name, user, command, status, recentErrors };
  return { ...record, status, view: JSON.stringify(view), view_version: 3, view_at_ms: number };
}
