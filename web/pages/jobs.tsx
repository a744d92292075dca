// All batch jobs, newest first, live.
import type { Job, JobPage } from '../../schema/jobs.ts';
import { Filters, isFiltered, queryOf, useFilter } from '../filters.tsx';
import { cost } from '../format.ts';
import { useLive } from '../live.ts';
import { LiveList } from '../live-list.tsx';
import { State, Title, When } from '../parts.tsx';
import type { Session } from '../session.ts';

const statuses = ['waiting', 'pending', 'running', 'done', 'error', 'cancelled'] as const;
const columns = ['ID', 'Name', 'State', 'Tasks done', 'Submitted', 'Finished', 'Approx cost', 'User', 'Command'];

export function JobsPage({ session }: { session: Session }) {
  const [filter, setFilter] = useFilter(statuses);
  const query = queryOf(filter);
  const live = useLive<JobPage>(session, `/v1/live/jobs?${query}&follow=true`);
  return (
    <>
      <Title text="Jobs" live={live.state} />
      <Filters statuses={statuses} filter={filter} onChange={setFilter} />
      {live.value === null && live.problem !== null && <p role="alert">{live.problem}</p>}
      {live.value !== null && live.value.items.length === 0 && (
        <p class="empty">
          {isFiltered(filter) ? (
            'No job is as the search and the filters ask.'
          ) : (
            <>
              No job is here. Submit one: <code>ropewalk batch run --ntasks 10 my_script.sh</code>
            </>
          )}
        </p>
      )}
      {live.value !== null && live.value.items.length > 0 && (
        <LiveList
          key={query}
          caption="Jobs, newest first"
          {...{ session, columns, rowOf }}
          newest={live.value}
          path={`/v1/jobs?${query}`}
        />
      )}
    </>
  );
}

const rowOf = (job: Job) => [
  <a href={`/jobs/${job.number}`}>{job.number}</a>,
  <a href={`/jobs/${job.number}`}>{job.name}</a>,
  <State state={job.status} />,
  `${job.tasks.done} / ${job.tasks.total}`,
  <When at={job.submittedAt} />,
  <When at={job.endedAt} />,
  cost(job.cost),
  job.user,
  job.withheld === true ? '' : <code class="short">{job.command}</code>,
];
