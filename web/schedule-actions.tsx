// What a user may do with a schedule: its creator everything, an admin pause and delete. The API has the same rule.
import { useState } from 'preact/hooks';

import type { Schedule } from '../schema/schedules.ts';
import { Act } from './parts.tsx';
import { call, isAdmin, mayWrite, type Session } from './session.ts';

interface Props {
  session: Session;
  schedule: Schedule;
  again: () => Promise<void>;
  onDeleted?: () => void;
  /** In a row of the list: its buttons name the schedule. */
  isInRow?: boolean;
}

const isCreator = ({ who }: Session, { user }: Schedule): boolean => who.user === user;

export const mayAct = (session: Session, schedule: Schedule): boolean =>
  mayWrite(session) && (isCreator(session, schedule) || isAdmin(session));

export function ScheduleActions({ session, schedule, again, onDeleted, isInRow = false }: Props) {
  const [isForLater, setForLater] = useState(false);
  if (!mayAct(session, schedule)) return null;
  const { name, state } = schedule;
  const isOwn = isCreator(session, schedule);
  const send = async (method: string, path: string): Promise<void> => {
    const { acceptedForLater } = await call<Schedule>(session, method, `/v1/schedules/${name}${path}`);
    setForLater(acceptedForLater === true);
    if (method === 'DELETE' && onDeleted !== undefined) onDeleted();
    else await again();
  };
  const of = isInRow ? { of: name } : {};
  return (
    <span class="actions">
      {isOwn && (
        <Act text="Trigger" {...of} ask={`Run the schedule ${name} now?`} onAct={() => send('POST', '/trigger')} />
      )}
      {state === 'active' && (
        <Act
          text="Pause"
          {...of}
          ask={`Pause the schedule ${name}? It then submits no job until it is resumed.`}
          onAct={() => send('POST', '/pause')}
        />
      )}
      {isOwn && state !== 'active' && (
        <Act text="Resume" {...of} ask={`Resume the schedule ${name}?`} onAct={() => send('POST', '/resume')} />
      )}
      <Act
        text="Delete"
        {...of}
        ask={`Delete the schedule ${name}? Jobs that it has started go on.`}
        onAct={() => send('DELETE', '')}
      />
      {isForLater && (
        <span role="status">Temporal is unavailable: the change takes effect when it is available again.</span>
      )}
    </span>
  );
}
