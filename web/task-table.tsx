// A job's tasks, one page at a time: the API filters them by state, and starts at the reader's choice.
import { useState } from 'preact/hooks';

import type { Task, TaskPage } from '../schema/jobs.ts';
import { span, taskCost } from './format.ts';
import { usePages } from './pages-of.ts';
import { State, Table, When } from './parts.tsx';
import { call, type Session } from './session.ts';

const states = ['pending', 'assigned', 'running', 'done', 'error', 'cancelled'] as const;
const columns = ['Task', 'State', 'Attempt', 'Exit', 'Started', 'Time', 'Approx cost', 'Instance', 'Reason', 'Logs'];

interface Props {
  session: Session;
  number: number;
  total: number;
  /** Position of the first task to show. */
  from: number;
  onFrom: (from: number) => void;
  /** Shows the log lines of the task with this id. */
  onLogs: (task: number) => void;
  /** Changes when the tasks have changed. */
  changes: unknown;
}

export function TaskTable({ session, number, total, from, onFrom, onLogs, changes }: Props) {
  const [only, setOnly] = useState('');
  const { items, isMore, problem, showMore } = usePages(
    (after) => {
      const start = after ?? (from === 0 ? null : String(from - 1));
      const query = new URLSearchParams({
        ...(start === null ? {} : { after: start }),
        ...(only === '' ? {} : { state: only }),
      });
      return call<TaskPage>(session, 'GET', `/v1/jobs/${number}/tasks?${query.toString()}`);
    },
    { list: `${number} ${from} ${only}`, changes },
  );
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
      <Table caption="Tasks" columns={columns} rows={items.map((task) => rowOf(task, onLogs))} />
      {items.length === 0 && !isMore && problem === '' && <p class="empty">No task is in this state.</p>}
      {isMore && <button onClick={showMore}>Show more</button>}
    </>
  );
}

const rowOf = (task: Task, onLogs: (task: number) => void) => [
  task.id,
  <State state={task.state} />,
  task.attempt === 0 ? '' : task.attempt,
  task.exitCode ?? task.signal ?? '',
  <When at={task.startedAt} />,
  span(task.startedAt, task.endedAt),
  taskCost(task.cost),
  <code>{task.instance ?? ''}</code>,
  task.reason ?? '',
  task.attempt === 0 ? (
    ''
  ) : (
    <button class="small" aria-label={`Logs of task ${task.id}`} onClick={() => onLogs(task.id)}>
      Logs
    </button>
  ),
];
