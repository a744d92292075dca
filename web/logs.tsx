// What processes printed: the newest lines, followed while one wants.
import { useEffect, useRef, useState } from 'preact/hooks';

import type { LogLine } from '../schema/jobs.ts';
import { readLines } from './lines.ts';
import type { Session } from './session.ts';

/** More would make the page slow; `ropewalk ... logs` has all. */
const maxLines = 2_000;

export function Logs({ session, path }: { session: Session; path: string }) {
  const [isOpen, setOpen] = useState(false);
  const [search, setSearch] = useState('');
  const [problem, setProblem] = useState('');
  const [lines, setLines] = useState<LogLine[]>([]);
  const pending = useRef<LogLine[]>([]);
  useEffect(() => {
    if (!isOpen) return;
    const left = new AbortController();
    setLines([]);
    // Lines of the logs that were shown before.
    pending.current = [];
    setProblem('');
    const flush = setInterval(() => {
      const fresh = pending.current.splice(0);
      if (fresh.length > 0) setLines((known) => [...known, ...fresh].slice(-maxLines));
    }, 200);
    readLines<LogLine>(session, `${path}?follow=true`, left.signal, (line) => pending.current.push(line)).catch(
      (error: unknown) => {
        if (!left.signal.aborted) setProblem(error instanceof Error ? error.message : String(error));
      },
    );
    return () => {
      left.abort();
      clearInterval(flush);
    };
  }, [isOpen, path]);
  const shown = search === '' ? lines : lines.filter(({ text }) => text.toLowerCase().includes(search.toLowerCase()));
  return (
    <details class="logs" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Logs</summary>
      <label>
        Search in the logs
        <input type="search" value={search} onInput={(event) => setSearch(event.currentTarget.value)} />
      </label>
      {problem !== '' && <p role="alert">{problem}</p>}
      <pre tabIndex={0} aria-label="Log lines">
        {shown.map((line) => `${line.at.slice(11, 23)} ${sourceOf(line)} ${line.text}\n`).join('')}
      </pre>
    </details>
  );
}

const sourceOf = ({ task, instance }: LogLine): string => (task === null ? instance : `(Task ${task})`);
