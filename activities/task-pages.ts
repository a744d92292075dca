// Pages of task records go to the object store before a job's state drops them. Keys are fixed by number and page: a repeated
// write replaces itself with the same bytes.
import type { TaskPageActivities } from '../contracts/activities.ts';
import { taskPageKey } from '../platform/archive-keys.ts';
import type { Objects } from '../platform/objects/objects.ts';

export const createTaskPageActivities = ({ objects }: { objects: Objects }): TaskPageActivities => ({
  archiveTaskPage: ({ workspace, job, page, records }) =>
    objects.put(taskPageKey(workspace, job, page), new TextEncoder().encode(JSON.stringify(records))),
});
