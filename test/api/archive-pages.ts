// Archives the records of ended tasks as the workflow of a job does.
import { pageDue, pageWritten } from '../../domain/job/summary.ts';
import type { JobState } from '../../domain/job/state.ts';
import { taskPageKey } from '../../platform/archive-keys.ts';
import { json, type TestApi } from './support.ts';

/** Until no page is due. */
export async function archivePages(api: Pick<TestApi, 'objects'>, job: JobState): Promise<void> {
  for (let due = pageDue(job); due !== null; due = pageDue(job)) {
    await api.objects.put(taskPageKey(job.workspace, job.number, job.pagesWritten), json(due));
    pageWritten(job, due.length);
  }
}
