// The past states of a cluster or job: a slider from its start to its end, or to now.
import { useEffect, useState } from 'preact/hooks';

import type { ClusterAt, JobAt } from '../schema/history.ts';
import { dollars, time } from './format.ts';
import { Facts, State, Table, When } from './parts.tsx';
import { call, type Session } from './session.ts';

interface Props {
  session: Session;
  /** Path of the cluster or job in the API. */
  path: string;
  from: string;
  /** Null while it is open. */
  until: string | null;
}

/** Steps of the slider. */
const steps = 1_000;
/** Minimum interval of requests while the slider moves. */
const settleMs = 120;

export function TimeMachine({ session, path, from, until }: Props) {
  const [isOpen, setOpen] = useState(false);
  const [endMs, setEndMs] = useState(0);
  const [atMs, setAtMs] = useState(0);
  const [past, setPast] = useState<ClusterAt | JobAt | null>(null);
  const [problem, setProblem] = useState('');
  const fromMs = Date.parse(from);
  useEffect(() => {
    if (!isOpen) return;
    const end = until === null ? Date.now() : Date.parse(until);
    setEndMs(end);
    setAtMs(end);
  }, [isOpen, until]);
  useEffect(() => {
    if (!isOpen || atMs === 0) return;
    let isLeft = false;
    const read = (): void => {
      call<ClusterAt | JobAt>(session, 'GET', `${path}/at?time=${new Date(atMs).toISOString()}`)
        .then((answer) => {
          if (isLeft) return;
          setPast(answer);
          setProblem('');
        })
        .catch((error: unknown) => isLeft || setProblem(error instanceof Error ? error.message : String(error)));
    };
    const timer = setTimeout(read, settleMs);
    return () => {
      isLeft = true;
      clearTimeout(timer);
    };
  }, [session.token, path, isOpen, atMs]);
  const step = endMs === fromMs ? steps : Math.round(((atMs - fromMs) / (endMs - fromMs)) * steps);
  const choose = (chosen: number): void => setAtMs(Math.round(fromMs + ((endMs - fromMs) * chosen) / steps));
  return (
    <details class="past" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Time machine</summary>
      <label>
        Moment
        <input
          type="range"
          min={0}
          max={steps}
          value={step}
          aria-valuetext={time(new Date(atMs).toISOString())}
          onInput={(event) => choose(Number(event.currentTarget.value))}
        />
      </label>
      {problem !== '' && <p role="alert">{problem}</p>}
      {past !== null && <Past past={past} />}
    </details>
  );
}

function Past({ past }: { past: ClusterAt | JobAt }) {
  return (
    <>
      <p role="status">
        {time(past.at)} <State state={past.status} /> {past.reason?.text}
      </p>
      <Facts facts={factsOf(past)} />
      {past.instances.length > 0 && (
        <Table
          caption="Instances at that moment"
          columns={['Instance', 'Role', 'Type', 'State', 'Reached']}
          rows={past.instances
            .slice(0, shownAtOnce)
            .map(({ id, role, type, market, state, process, stages }) => [
              <code>{id}</code>,
              role === 'head' && 'target' in past && past.workersStarted !== null ? 'scheduler' : role,
              market === 'spot' ? `${type} (spot)` : type,
              <State state={state === 'ready' ? (process ?? 'ready') : state} />,
              stages.at(-1)?.name ?? '',
            ])}
        />
      )}
      {past.instances.length > shownAtOnce && (
        <p>
          The first {shownAtOnce} of {past.instances.length}.
        </p>
      )}
      {'events' in past && past.events.length > 0 && (
        <Table
          caption="Newest events up to that moment"
          columns={['#', 'When', 'What', 'By', 'Text']}
          rows={past.events
            .toReversed()
            .slice(0, eventsShown)
            .map(({ seq, at, code, by, text }) => [seq, <When at={at} />, code, by ?? '', text])}
        />
      )}
    </>
  );
}

const shownAtOnce = 100;
const eventsShown = 5;

function factsOf(past: ClusterAt | JobAt): Parameters<typeof Facts>[0]['facts'] {
  const money: Parameters<typeof Facts>[0]['facts'] = [
    ['Approx cloud cost so far', dollars(past.dollars)],
    ['Per hour then', dollars(past.dollarsPerHour)],
  ];
  if ('tasks' in past) {
    const { total, ...counts } = past.tasks;
    const some = Object.entries(counts).filter(([, count]) => count > 0);
    const tasks = some.map(([state, count]) => `${count} ${state}`).join(', ');
    return [['Tasks', `${tasks} of ${total}`], ['Instances', String(past.instances.length)], ...money];
  }
  return [
    ['Instances', `${past.instances.length} of ${past.target}`],
    ...(past.workersStarted === null ? [] : [['Workers', String(past.workersStarted)] satisfies [string, string]]),
    ...money,
  ];
}
