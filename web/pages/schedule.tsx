// One schedule: its next times, and its last runs with their jobs.
import { useCallback } from 'preact/hooks';

import type { ScheduleDetails } from '../../schema/schedules.ts';
import { time } from '../format.ts';
import { Facts, State, Table, Title, When } from '../parts.tsx';
import { useReading } from '../read.ts';
import { open } from '../router.ts';
import { ScheduleActions } from '../schedule-actions.tsx';
import { call, type Session } from '../session.ts';

/** What happens to a run while the job of an earlier one is open. */
const overlapTexts: Record<ScheduleDetails['overlap'], string> = {
  skip: 'skip the run',
  allow: 'run both',
  queue: 'start after it',
  cancel: 'cancel it first',
};

export function SchedulePage({ session, name }: { session: Session; name: string }) {
  const read = useCallback(() => call<ScheduleDetails>(session, 'GET', `/v1/schedules/${name}`), [session, name]);
  const { value, problem, again } = useReading(read);
  return (
    <>
      <Title text={name}>{value !== null && <State state={value.state} />}</Title>
      {problem !== '' && <p role="alert">{problem}</p>}
      {value !== null && (
        <>
          {value.reason !== null && <p class="note">{value.reason}</p>}
          <ScheduleActions {...{ session, again }} schedule={value} onDeleted={() => open('/schedules')} />
          <Facts facts={factsOf(value)} />
          {value.command !== '' && (
            <pre class="command" aria-label="Command">
              {value.command}
            </pre>
          )}
          <h2>Next runs</h2>
          {value.nextRuns.length === 0 ? (
            <p class="empty">{nothingNext(value)}</p>
          ) : (
            <ul aria-label="Next runs">
              {value.nextRuns.map((at) => (
                <li key={at}>{time(at)}</li>
              ))}
            </ul>
          )}
          <h2>Last runs</h2>
          {value.runs.length === 0 ? (
            <p class="empty">It has not run yet.</p>
          ) : (
            <Table
              caption="Last runs, newest first"
              columns={['When', 'State', 'Job', 'Why']}
              rows={value.runs.map(({ at, state, job, text }) => [
                <When at={at} />,
                <State state={state} />,
                job === null ? '' : <a href={`/jobs/${job}`}>{job}</a>,
                text ?? '',
              ])}
            />
          )}
        </>
      )}
    </>
  );
}

const factsOf = (of: ScheduleDetails): Parameters<typeof Facts>[0]['facts'] => [
  ['At', <code>{of.cron}</code>],
  ['Time zone', of.timezone],
  ['While an earlier job is open', overlapTexts[of.overlap]],
  ['User', of.user],
  ['Created', time(of.createdAt)],
  ['Last job', of.lastJob === null ? 'none yet' : <a href={`/jobs/${of.lastJob}`}>{of.lastJob}</a>],
];

const nothingNext = ({ state }: ScheduleDetails): string =>
  state === 'active' ? 'Temporal, which knows the next times, is unavailable.' : `No run is due: it is ${state}.`;
