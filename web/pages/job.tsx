// One job: its progress, a cell for each task, its tasks, its output, and cancelling it.
import { useState } from 'preact/hooks';

import { retriedStates } from '../../domain/job/retried-tasks.ts';
import type { CreatedJob, Job } from '../../schema/jobs.ts';
import { cost, span, time } from '../format.ts';
import { ConfigurationSection, useConfiguration } from '../configuration.tsx';
import { CostChart } from '../cost-chart.tsx';
import { Grid } from '../grid.tsx';
import { Histogram } from '../histogram.tsx';
import { useLive } from '../live.ts';
import { Logs } from '../logs.tsx';
import { WhyList } from '../why.tsx';
import { Act, Bar, Facts, Failures, State, Table, Title, When } from '../parts.tsx';
import { call, isAdmin, mayWrite, type Session } from '../session.ts';
import { useTaskStates } from '../task-states.ts';
import { TimeMachine } from '../time-machine.tsx';
import { JobFiles } from '../job-files.tsx';
import { open } from '../router.ts';
import { TaskTable } from '../task-table.tsx';

const barOrder = ['done', 'error', 'cancelled', 'running', 'assigned', 'pending'] as const;

export function JobPage({ session, number }: { session: Session; number: number }) {
  const { value: job, state, problem } = useLive<Job>(session, `/v1/live/jobs/${number}?follow=true`);
  const configuration = useConfiguration(session, `/v1/jobs/${number}`);
  const tasks = useTaskStates(session, job);
  const [from, setFrom] = useState(0);
  const [logsOf, setLogsOf] = useState<number | null>(null);
  if (job === null) {
    return (
      <>
        <Title text={`Job ${number}`} live={state} />
        {problem !== null && <p role="alert">{problem}</p>}
      </>
    );
  }
  // An admin may only cancel another user's private job.
  const isWithheld = job.withheld === true;
  const again = retriedStates(job, {}).reduce((sum, state) => sum + job.tasks[state], 0);
  const chooseTask = (index: number): void => {
    setFrom(index);
    document.getElementById('tasks')?.scrollIntoView();
  };
  const parts = barOrder.map((each) => ({ state: each, count: job.tasks[each] }));
  return (
    <>
      <Title text={job.name} live={state}>
        <State state={job.status} />
      </Title>
      {isWithheld && <p class="note">This job is private: only its creator sees the rest.</p>}
      {!isWithheld && job.reason !== null && job.status !== 'done' && <p class="note">{job.reason.text}</p>}
      {job.endedAt === null && (isWithheld ? isAdmin(session) : mayWrite(session)) && (
        <div class="actions">
          <Act
            text="Cancel"
            ask="Cancel the job and stop its instances?"
            onAct={() => call(session, 'POST', `/v1/jobs/${number}/cancel`)}
          />
        </div>
      )}
      {job.endedAt !== null && again > 0 && !isWithheld && mayWrite(session) && (
        <div class="actions">
          <Act
            text="Retry failed tasks"
            ask={`Run the ${again} tasks that failed or never ran again, as a new job?`}
            onAct={async () => {
              const created = await call<CreatedJob>(session, 'POST', `/v1/jobs/${number}/retry`, {});
              open(`/jobs/${created.number}`);
            }}
          />
        </div>
      )}
      <Facts facts={factsOf(job)} />
      {!isWithheld && (
        <pre class="command" aria-label="Command">
          {job.command}
        </pre>
      )}
      {!isWithheld && (
        <WhyList
          session={session}
          path={`/v1/jobs/${number}/why`}
          changes={[job.status, job.tasks.pending === 0, job.tasks.error].join()}
        />
      )}
      <h2>Progress</h2>
      <Bar parts={parts} label={`${job.tasks.done} of ${job.tasks.total} tasks are done`} />
      {tasks !== null && <Grid states={tasks} counts={job.tasks} onChoose={chooseTask} />}
      {tasks !== null && <Histogram classes={tasks.durations} />}
      {!isWithheld && <CostChart session={session} path={`/v1/jobs/${number}/costs`} cost={job.cost ?? null} />}
      <Failures failures={job.failures ?? []} />
      {job.recentErrors.length > 0 && (
        <>
          <h2>Newest errors</h2>
          <Table
            caption="Newest errors"
            columns={['Task', 'Attempt', 'When', 'Error']}
            rows={job.recentErrors.map((each) => [each.task, each.attempt, <When at={each.at} />, each.text])}
          />
        </>
      )}
      {tasks !== null && (
        <TaskTable
          {...{ session, number, from }}
          total={tasks.total}
          onFrom={setFrom}
          onLogs={setLogsOf}
          changes={tasks}
        />
      )}
      {configuration !== null && <ConfigurationSection configuration={configuration} />}
      {!isWithheld && <JobFiles session={session} number={number} />}
      {!isWithheld && (
        <TimeMachine session={session} path={`/v1/jobs/${number}`} from={job.submittedAt} until={job.endedAt} />
      )}
      {!isWithheld && (
        <Logs session={session} path={`/v1/jobs/${number}/logs`} task={logsOf} onAllTasks={() => setLogsOf(null)} />
      )}
    </>
  );
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
  ...queueFacts(job),
];

/** Its predecessors in the queue, and its origin. */
function queueFacts({ after = [], afterOk = [], priority, schedule, retryOf }: Job): ReturnType<typeof factsOf> {
  const links = (numbers: number[]) =>
    numbers.map((number) => (
      <>
        <a href={`/jobs/${number}`}>{number}</a>{' '}
      </>
    ));
  const facts: ReturnType<typeof factsOf> = [];
  if (retryOf !== undefined) facts.push(['Runs again tasks of', links([retryOf])]);
  if (after.length > 0) facts.push(['After the end of', links(after)]);
  if (afterOk.length > 0) facts.push(['After the success of', links(afterOk)]);
  if (priority !== undefined) facts.push(['Priority', String(priority)]);
  if (schedule !== undefined) facts.push(['Schedule', <a href={`/schedules/${schedule}`}>{schedule}</a>]);
  return facts;
}
