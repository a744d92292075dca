// One job: its progress, a cell for each task, its tasks, what it printed, and its end.
import { useEffect, useState } from 'preact/hooks';

import type { Job, Task, TaskPage } from '../../schema/jobs.ts';
import { cost, span, time } from '../format.ts';
import { Grid } from '../grid.tsx';
import { useLive } from '../live.ts';
import { Logs } from '../logs.tsx';
import { WhyList } from '../why.tsx';
import { Act, Bar, Facts, State, Table, Title } from '../parts.tsx';
import { call, mayWrite, type Session } from '../session.ts';

const states = ['pending', 'assigned', 'running', 'done', 'error', 'cancelled'] as const;
const barOrder = ['done', 'error', 'cancelled', 'running', 'assigned', 'pending'] as const;
/** Tasks that the page reads; the command line has all. */
const maxTasks = 10_000;
const rowsAtOnce = 100;

export function JobPage({ session, number }: { session: Session; number: number }) {
  const { value: job, state, problem } = useLive<Job>(session, `/v1/live/jobs/${number}?follow=true`);
  const tasks = useTasks(session, job);
  if (job === null) {
    return (
      <>
        <Title text={`Job ${number}`} live={state} />
        {problem !== null && <p role="alert">{problem}</p>}
      </>
    );
  }
  const parts = barOrder.map((each) => ({ state: each, count: job.tasks[each] }));
  return (
    <>
      <Title text={job.name} live={state}>
        <State state={job.status} />
      </Title>
      {job.withheld === true && <p class="note">This job is private: only its creator sees the rest.</p>}
      {job.reason !== null && job.status !== 'done' && <p class="note">{job.reason.text}</p>}
      {job.endedAt === null && mayWrite(session) && (
        <div class="actions">
          <Act
            text="Cancel"
            ask="Cancel the job and stop its instances?"
            onAct={() => call(session, 'POST', `/v1/jobs/${number}/cancel`)}
          />
        </div>
      )}
      <Facts facts={factsOf(job)} />
      {job.withheld !== true && (
        <WhyList
          session={session}
          path={`/v1/jobs/${number}/why`}
          changes={[job.status, job.tasks.pending === 0, job.tasks.error].join()}
        />
      )}
      <h2>Progress</h2>
      <Bar parts={parts} label={`${job.tasks.done} of ${job.tasks.total} tasks are done`} />
      {tasks.length > 0 && <Grid tasks={tasks} total={job.tasks.total} />}
      {job.recentErrors.length > 0 && (
        <>
          <h2>Newest errors</h2>
          <Table
            caption="Newest errors"
            columns={['Task', 'Attempt', 'When', 'Error']}
            rows={job.recentErrors.map((each) => [each.task, each.attempt, time(each.at), each.text])}
          />
        </>
      )}
      {tasks.length > 0 && <Tasks tasks={tasks} />}
      {job.withheld !== true && <Logs session={session} path={`/v1/jobs/${number}/logs`} />}
    </>
  );
}

function Tasks({ tasks }: { tasks: readonly Task[] }) {
  const [only, setOnly] = useState('');
  const [shown, setShown] = useState(rowsAtOnce);
  const chosen = only === '' ? tasks : tasks.filter(({ state }) => state === only);
  const rows = chosen
    .slice(0, shown)
    .map((task) => [
      task.id,
      <State state={task.state} />,
      task.attempt === 0 ? '' : task.attempt,
      task.exitCode ?? task.signal ?? '',
      time(task.startedAt),
      span(task.startedAt, task.endedAt),
      <code>{task.instance ?? ''}</code>,
      task.reason ?? '',
    ]);
  return (
    <>
      <h2>Tasks</h2>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <label>
          Task state
          <select value={only} onChange={(event) => setOnly(event.currentTarget.value)}>
            <option value="">all</option>
            {states.map((state) => (
              <option key={state}>{state}</option>
            ))}
          </select>
        </label>
      </form>
      <Table
        caption="Tasks"
        columns={['Task', 'State', 'Attempt', 'Exit', 'Started', 'Time', 'Instance', 'Reason']}
        rows={rows}
      />
      {chosen.length > shown && <button onClick={() => setShown(shown + rowsAtOnce)}>Show more</button>}
    </>
  );
}

/** Read again when the job's counts have changed, one page after the other. */
function useTasks(session: Session, job: Job | null): Task[] {
  const [tasks, setTasks] = useState<Task[]>([]);
  const counts = job === null || job.withheld === true ? '' : JSON.stringify(job.tasks);
  useEffect(() => {
    if (job === null || counts === '') return;
    let isLeft = false;
    const read = async (): Promise<void> => {
      const found: Task[] = [];
      let after = '';
      do {
        const path = `/v1/jobs/${job.number}/tasks?limit=1000${after === '' ? '' : `&after=${after}`}`;
        const page = await call<TaskPage>(session, 'GET', path);
        found.push(...page.items);
        after = page.next ?? '';
      } while (after !== '' && found.length < maxTasks && !isLeft);
      if (!isLeft) setTasks(found);
    };
    read().catch(() => undefined);
    return () => {
      isLeft = true;
    };
  }, [job?.number, counts]);
  return tasks;
}

const factsOf = (job: Job): Parameters<typeof Facts>[0]['facts'] => [
  ['Number', String(job.number)],
  ['User', job.user],
  ['Submitted', time(job.submittedAt)],
  ['Runs', job.startedAt === null ? 'not yet' : span(job.startedAt, job.endedAt)],
  ['Ended', job.endedAt === null ? 'open' : time(job.endedAt)],
  ['Instances', String(job.instances)],
  ['Retried tasks', String(job.counters.retried)],
  ['Approx cloud cost', job.cost ? cost(job.cost) : 'none yet'],
  ['Command', <code>{job.command}</code>],
];
