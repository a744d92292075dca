// Schedules of jobs: a row for each, with its newest job and the actions of its creator and of admins.
import { useCallback } from 'preact/hooks';

import type { ScheduleList } from '../../schema/schedules.ts';
import { State, Table, Title } from '../parts.tsx';
import { useReading } from '../read.ts';
import { mayAct, ScheduleActions } from '../schedule-actions.tsx';
import { call, type Session } from '../session.ts';

const columns = ['Name', 'State', 'At', 'Time zone', 'Last job', 'User', 'Command'];

export function SchedulesPage({ session }: { session: Session }) {
  const read = useCallback(() => call<ScheduleList>(session, 'GET', '/v1/schedules'), [session]);
  const { value, problem, again } = useReading(read);
  const items = value?.items ?? [];
  const hasActions = items.some((each) => mayAct(session, each));
  return (
    <>
      <Title text="Schedules" />
      {problem !== '' && <p role="alert">{problem}</p>}
      {value !== null && items.length === 0 && (
        <p class="empty">
          No schedule is here. Create one:{' '}
          <code>ropewalk batch schedule --cron "0 3 * * *" nightly -- my_script.sh</code>
        </p>
      )}
      {items.length > 0 && (
        <Table
          caption="Schedules, by name"
          columns={[...columns, ...(hasActions ? ['Actions'] : [])]}
          keys={items.map(({ name }) => name)}
          rows={items.map((each) => [
            <a href={`/schedules/${each.name}`}>{each.name}</a>,
            <State state={each.state} />,
            <code>{each.cron}</code>,
            each.timezone,
            each.lastJob === null ? '' : <a href={`/jobs/${each.lastJob}`}>{each.lastJob}</a>,
            each.user,
            each.command === '' ? '' : <code class="short">{each.command}</code>,
            ...(hasActions ? [<ScheduleActions {...{ session, again }} schedule={each} isInRow />] : []),
          ])}
        />
      )}
    </>
  );
}
