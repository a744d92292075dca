// Notifications of the last 30 days, newest first, with links to their objects.
import { useCallback } from 'preact/hooks';

import type { Notification, NotificationPage } from '../../schema/webhooks.ts';
import { LiveList } from '../live-list.tsx';
import { Title, When } from '../parts.tsx';
import { useReading } from '../read.ts';
import { useQuery } from '../router.ts';
import { call, type Session } from '../session.ts';

const columns = ['When', 'Type', 'About', 'Text'];

/** An object, so that the compiler finds a missing type. */
const types = {
  ...{ 'job.finished': 0, 'job.failed': 0, 'job.cancelled': 0 },
  ...{ 'cluster.ready': 0, 'cluster.ended': 0, 'cluster.failed': 0, 'cluster.idle': 0, 'cluster.idle_gpu': 0 },
  ...{ 'schedule.stopped': 0, 'budget.warning': 0, 'budget.exceeded': 0 },
  ...{ 'approval.requested': 0, 'approval.approved': 0, 'approval.rejected': 0, 'approval.expired': 0 },
  'webhook.test': 0,
} satisfies Record<Notification['type'], 0>;

/** Types, after the pattern of their noun. */
const events = Object.keys(types).flatMap((type, at, all) => {
  const noun = `${type.split('.')[0]}.`;
  return all[at - 1]?.startsWith(noun) === true ? [type] : [`${noun}*`, type];
});

export function NotificationsPage({ session }: { session: Session }) {
  const [asked, ask] = useQuery({ event: '' });
  const event = events.includes(asked.event) ? asked.event : '';
  return (
    <>
      <Title text="Notifications" />
      <form class="filters" onSubmit={(submitted) => submitted.preventDefault()}>
        <label>
          Type
          <select value={event} onChange={(change) => ask({ event: change.currentTarget.value })}>
            <option value="">all</option>
            {events.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
        <p class="muted">
          Webhooks and e-mail addresses receive them too: <a href="/workspace">Workspace</a>
        </p>
      </form>
      <Listed key={event} session={session} event={event} />
    </>
  );
}

function Listed({ session, event }: { session: Session; event: string }) {
  const path = `/v1/notifications?limit=200${event === '' ? '' : `&event=${event}`}`;
  const read = useCallback(() => call<NotificationPage>(session, 'GET', path), [session, path]);
  const { value, problem } = useReading(read);
  return (
    <>
      {problem !== '' && <p role="alert">{problem}</p>}
      {value?.items.length === 0 && (
        <p class="empty">There was no notification{event === '' ? '' : ' of this type'} in the last 30 days.</p>
      )}
      {value !== null && value.items.length > 0 && (
        <LiveList caption="Notifications, newest first" {...{ session, columns, rowOf, path }} newest={value} />
      )}
    </>
  );
}

const rowOf = (each: Notification) => [<When at={each.at} />, each.type, <ObjectOf of={each} />, each.text];

/** Without a link where the object has no page. */
function ObjectOf({ of: { object, data } }: { of: Notification }) {
  const [kind = '', name = ''] = object.split('/');
  const link = (path: string, text: string) => <a href={path}>{text}</a>;
  if (kind === 'job' || kind === 'cluster') return link(`/${kind}s/${name}`, `${kind} ${name}`);
  if (kind === 'budget') return link('/spend', `budget ${name}`);
  const schedule = data['schedule'];
  if (kind === 'schedule' && typeof schedule === 'string')
    return link(`/schedules/${schedule}`, `schedule ${schedule}`);
  return <>{kind}</>;
}
