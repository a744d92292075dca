// All batch jobs, newest first, live.
import { useState } from 'preact/hooks';

import type { Job, JobPage } from '../../schema/jobs.ts';
import { Filters, noFilter, queryOf } from '../filters.tsx';
import { cost, time } from '../format.ts';
import { useLive } from '../live.ts';
import { State, Table, Title } from '../parts.tsx';
import type { Session } from '../session.ts';

const statuses = ['waiting', 'pending', 'running', 'done', 'error', 'cancelled'] as const;
const columns = ['ID', 'Name', 'State', 'Tasks done', 'Submitted', 'Finished', 'Approx cost', 'User', 'Command'];

export function JobsPage({ session }: { session: Session }) {
  const [filter, setFilter] = useState(noFilter);
  const live = useLive<JobPage>(session, `/v1/live/jobs?${queryOf(filter)}`);
  return (
    <>
      <Title text="Jobs" live={live.state} />
      <Filters statuses={statuses} filter={filter} onChange={setFilter} />
      {live.value === null && live.problem !== null && <p role="alert">{live.problem}</p>}
      {live.value !== null && live.value.items.length === 0 && (
        <p class="empty">
          No job is here. Submit one: <code>ropewalk batch run --ntasks 10 my_script.sh</code>
        </p>
      )}
      {live.value !== null && live.value.items.length > 0 && (
        <Table caption="Jobs, newest first" columns={columns} rows={live.value.items.map(rowOf)} />
      )}
    </>
  );
}

const rowOf = (job: Job) => [
  <a href={`/jobs/${job.number}`}>{job.number}</a>,
  <a href={`/jobs/${job.number}`}>{job.name}</a>,
  <State state={job.status} />,
  `${job.tasks.done} / ${job.tasks.total}`,
  time(job.submittedAt),
  time(job.endedAt),
  cost(job.cost),
  job.user,
  <code class="short">{job.command}</code>,
];
