// The newest log lines, followed while the user wants; for a job optionally of one task only.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

import type { LogLine } from '../schema/jobs.ts';
import { clockTime } from './format.ts';
import { readLines } from './lines.ts';
import type { Session } from './session.ts';

/** More would make the page slow; `ropewalk ... logs` shows all. */
const maxLines = 2_000;
/** Within this many pixels of its end, the pane stays at its end. */
const nearEnd = 30;

interface Props {
  session: Session;
  path: string;
  /** Id of the only task to show. */
  task?: number | null;
  onAllTasks?: () => void;
}

export function Logs({ session, path, task = null, onAllTasks }: Props) {
  const [isOpen, setOpen] = useState(false);
  const [search, setSearch] = useState('');
  const [problem, setProblem] = useState('');
  const [lines, setLines] = useState<string[]>([]);
  const whole = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    if (task === null) return;
    setOpen(true);
    whole.current?.scrollIntoView();
  }, [task]);
  useEffect(() => {
    if (!isOpen) return;
    const left = new AbortController();
    const fresh: string[] = [];
    setLines([]);
    setProblem('');
    const flush = setInterval(() => {
      const added = fresh.splice(0);
      if (added.length > 0) setLines((known) => [...known, ...added].slice(-maxLines));
    }, 200);
    const query = task === null ? '' : `&tasks=${task}`;
    readLines<LogLine>(session, `${path}?follow=true${query}`, left.signal, (line) => fresh.push(textOf(line))).catch(
      (error: unknown) => {
        if (!left.signal.aborted) setProblem(error instanceof Error ? error.message : String(error));
      },
    );
    return () => {
      left.abort();
      clearInterval(flush);
    };
  }, [isOpen, path, task]);
  const shown = search === '' ? lines : lines.filter((text) => text.toLowerCase().includes(search.toLowerCase()));
  return (
    <details class="logs" ref={whole} open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{task === null ? 'Logs' : `Logs of task ${task}`}</summary>
      <div class="filters">
        <label>
          Search in the logs
          <input type="search" value={search} onInput={(event) => setSearch(event.currentTarget.value)} />
        </label>
        {task !== null && <button onClick={onAllTasks}>All tasks</button>}
      </div>
      {problem !== '' && <p role="alert">{problem}</p>}
      <Pane text={shown.join('')} />
      {lines.length === maxLines && <p class="legend">The newest {maxLines} lines.</p>}
    </details>
  );
}

/** Follows new lines while its end is visible. */
function Pane({ text }: { text: string }) {
  const pane = useRef<HTMLPreElement>(null);
  const follows = useRef(true);
  useLayoutEffect(() => {
    if (follows.current && pane.current !== null) pane.current.scrollTop = pane.current.scrollHeight;
  }, [text]);
  return (
    <pre
      ref={pane}
      tabIndex={0}
      aria-label="Log lines"
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
        follows.current = scrollHeight - scrollTop - clientHeight < nearEnd;
      }}
    >
      {text}
    </pre>
  );
}

const textOf = ({ at, task, instance, text }: LogLine): string =>
  `${clockTime(at)} ${task === null ? instance : `(Task ${task})`} ${text}\n`;
