// A job's tasks, a page at a time: the API filters them by state, and begins where the reader says.
import { useEffect, useState } from 'preact/hooks';

import type { Task, TaskPage } from '../schema/jobs.ts';
import { span, time } from './format.ts';
import { State, Table } from './parts.tsx';
import { call, type Session } from './session.ts';

const states = ['pending', 'assigned', 'running', 'done', 'error', 'cancelled'] as const;
const columns = ['Task', 'State', 'Attempt', 'Exit', 'Started', 'Time', 'Instance', 'Reason'];

interface Props {
  session: Session;
  number: number;
  total: number;
  /** Place of the first task to show. */
  from: number;
  onFrom: (from: number) => void;
  /** Changes when the tasks have changed. */
  changes: unknown;
}

export function TaskTable({ session, number, total, from, onFrom, changes }: Props) {
  const [only, setOnly] = useState('');
  const [pages, setPages] = useState(1);
  const [{ items, isMore, problem }, setRead] = useState({ items: [] as Task[], isMore: false, problem: '' });
  useEffect(() => setPages(1), [only, from]);
  useEffect(() => {
    let isLeft = false;
    const read = async (): Promise<void> => {
      const found: Task[] = [];
      let after: string | null = from === 0 ? '' : String(from - 1);
      for (let page = 0; page < pages && after !== null && !isLeft; page += 1) {
        const query = new URLSearchParams({
          ...(after === '' ? {} : { after }),
          ...(only === '' ? {} : { state: only }),
        });
        const answer: TaskPage = await call<TaskPage>(session, 'GET', `/v1/jobs/${number}/tasks?${query.toString()}`);
        found.push(...answer.items);
        after = answer.next;
      }
      if (!isLeft) setRead({ items: found, isMore: after !== null, problem: '' });
    };
    read().catch((error: unknown) => {
      const text = error instanceof Error ? error.message : String(error);
      if (!isLeft) setRead((last) => ({ ...last, problem: text }));
    });
    return () => {
      isLeft = true;
    };
  }, [session.token, number, only, from, pages, changes]);
  return (
    <>
      <h2 id="tasks">Tasks</h2>
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
        <label>
          From place
          <input
            type="number"
            min={0}
            max={total - 1}
            value={from}
            onChange={(event) => onFrom(Math.max(0, Math.min(total - 1, Number(event.currentTarget.value) || 0)))}
          />
        </label>
      </form>
      {problem !== '' && <p role="alert">{problem}</p>}
      <Table caption="Tasks" columns={columns} rows={items.map(rowOf)} />
      {items.length === 0 && problem === '' && <p class="empty">No task is in this state.</p>}
      {isMore && <button onClick={() => setPages(pages + 1)}>Show more</button>}
    </>
  );
}

const rowOf = (task: Task) => [
  task.id,
  <State state={task.state} />,
  task.attempt === 0 ? '' : task.attempt,
  task.exitCode ?? task.signal ?? '',
  time(task.startedAt),
  span(task.startedAt, task.endedAt),
  <code>{task.instance ?? ''}</code>,
  task.reason ?? '',
];
