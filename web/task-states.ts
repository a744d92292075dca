// The states of a job's tasks, as the API sends them: runs of equal states.
import { useEffect, useState } from 'preact/hooks';

import type { Job, Task, TaskStates } from '../schema/jobs.ts';
import { call, type Session } from './session.ts';

export function toneOf(state: Task['state']): string {
  if (state === 'done') return 'good';
  if (state === 'error' || state === 'unknown') return 'bad';
  return state === 'running' || state === 'assigned' ? 'busy' : 'idle';
}

/** Pause between two reads, because a job of many short tasks changes all the time. */
const pauseMs = 2_000;

/** Read again when the job's counts have changed, at most every two seconds. */
export function useTaskStates(session: Session, job: Job | null): TaskStates | null {
  const [states, setStates] = useState<TaskStates | null>(null);
  const [readAtMs, setReadAtMs] = useState(0);
  const counts = job === null || job.withheld === true ? '' : JSON.stringify(job.tasks);
  useEffect(() => {
    if (job === null || counts === '') return;
    let isLeft = false;
    const read = async (): Promise<void> => {
      const found = await call<TaskStates>(session, 'GET', `/v1/jobs/${job.number}/task-states`);
      if (isLeft) return;
      setStates(found);
      setReadAtMs(Date.now());
    };
    const timer = setTimeout(() => void read().catch(() => undefined), Math.max(0, readAtMs + pauseMs - Date.now()));
    return () => {
      isLeft = true;
      clearTimeout(timer);
    };
  }, [job?.number, counts]);
  return states;
}
