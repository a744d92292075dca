// The tasks that ran, by the files they appended to, and the recorded tasks, by the pages in the object store.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

import { z } from 'zod';

import type { TaskRecord } from '../../../domain/job/state.ts';
import { taskPageKey } from '../../../platform/archive-keys.ts';
import { read } from '../../support/kills.ts';

/** Sorted; a task with two records appears twice. */
export const recordedTasks = (home: string, number: number): number[] =>
  taskRecords(home, number)
    .map((record) => record.task)
    .toSorted((a, b) => a - b);

/** In the order in which the tasks ended. */
export function taskRecords(home: string, number: number): TaskRecord[] {
  const records: TaskRecord[] = [];
  for (let page = 0; ; page += 1) {
    const found = read<TaskRecord[]>(join(home, 'objects', taskPageKey('default', number, page)));
    if (found === null) return records;
    records.push(...found);
  }
}

export const ranTasks = (directory: string): number[] =>
  readdirSync(directory)
    .flatMap((name) => /^task-(\d+)$/.exec(name)?.[1] ?? [])
    .map(Number)
    .toSorted((a, b) => a - b);

/** From the reset memory: a workflow appears once for each reset. */
export function resetWorkflows(home: string): string[] {
  const root = join(home, 'objects', 'stuck');
  return readdirSync(join(home, 'objects'), { recursive: true, encoding: 'utf8' }).flatMap((path) => {
    const [folder = '', file = ''] = path.split('/');
    if (folder !== 'stuck' || file === '') return [];
    const { resetsAtMs } = resetMemory.parse(read<unknown>(join(root, file)));
    return resetsAtMs.map(() => file.replace(/\.json$/, ''));
  });
}

const resetMemory = z.object({ resetsAtMs: z.array(z.number()) });
