// Writes pages of task records to the object store before a job's state drops them. Number and page determine the key, so a repeated write stores the
// same bytes again.
import type { TaskPageActivities } from '../contracts/activities.ts';
import { taskPageKey } from '../platform/archive-keys.ts';
import type { Objects } from '../platform/objects/objects.ts';

export const createTaskPageActivities = ({ objects }: { objects: Objects }): TaskPageActivities => ({
  archiveTaskPage: ({ workspace, job, page, records }) =>
    objects.put(taskPageKey(workspace, job, page), new TextEncoder().encode(JSON.stringify(records))),
});
