// Components that several pages share.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import { shortTime, time } from './format.ts';
import type { LiveState } from './live.ts';

const tones: Record<string, string> = {
  ...{ ready: 'good', done: 'good', started: 'good', running: 'busy', starting: 'busy', scaling: 'busy' },
  ...{ assigned: 'busy', stopping: 'busy', pending: 'idle', stopped: 'idle', cancelled: 'idle' },
  ...{ error: 'bad', unknown: 'bad', exceeded: 'bad', rejected: 'bad', waiting: 'idle', warned: 'busy' },
  ...{ broken: 'bad', approved: 'good', ok: 'good', valid: 'good', enabled: 'good' },
};

export const State = ({ state }: { state: string }) => <span class={`state ${tones[state] ?? 'idle'}`}>{state}</span>;

export function Title({ text, live, children }: { text: string; live?: LiveState; children?: ComponentChildren }) {
  useEffect(() => {
    document.title = `${text} · Ropewalk`;
  }, [text]);
  return (
    <div class="title">
      <h1 tabIndex={-1}>{text}</h1>
      {children}
      <span class={`connection ${live ?? ''}`} role="status">
        {live === 'live' && 'live'}
        {live === 'away' && 'connection lost, trying again'}
        {live === 'connecting' && 'connecting'}
      </span>
    </div>
  );
}

/** A table whose rows become blocks on a narrow screen: each cell then names its column. */
export function Table({ caption, columns, rows }: { caption: string; columns: string[]; rows: ComponentChildren[][] }) {
  return (
    <table>
      <caption class="hidden">{caption}</caption>
      <thead>
        <tr>
          {columns.map((column) => (
            <th scope="col" key={column}>
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((cells, row) => (
          <tr key={row}>
            {cells.map((cell, at) => (
              <td key={at} data-column={columns[at]}>
                {cell}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export const Facts = ({ facts }: { facts: [name: string, value: ComponentChildren][] }) => (
  <dl class="facts">
    {facts.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);

/** A time without a line break. */
export const When = ({ at }: { at: string | null }) => (
  <span class="when" title={time(at)}>
    {shortTime(at)}
  </span>
);

/** Failures by cause. */
export function Failures({ failures }: { failures: { count: number; code: string; lastAt: string; text: string }[] }) {
  if (failures.length === 0) return null;
  return (
    <>
      <h2>Failures</h2>
      <Table
        caption="Failures, grouped"
        columns={['Count', 'Code', 'Last', 'What happened']}
        rows={failures.map((each) => [each.count, each.code, <When at={each.lastAt} />, each.text])}
      />
    </>
  );
}

/** Parts of a whole, side by side; the text beside it has the same numbers. */
export function Bar({ parts, label }: { parts: { state: string; count: number }[]; label: string }) {
  const shown = parts.filter(({ count }) => count > 0);
  if (shown.length === 0) return null;
  return (
    <div>
      <div class="bar" role="img" aria-label={label}>
        {shown.map(({ state, count }) => (
          <i key={state} class={tones[state] ?? 'idle'} style={{ flexGrow: count }} />
        ))}
      </div>
      <p class="legend">
        {shown.map(({ state, count }) => (
          <span key={state}>
            <i class={tones[state] ?? 'idle'} /> {count} {state}
          </span>
        ))}
      </p>
    </div>
  );
}

/** Asks before it acts, and shows why an action failed. */
export function Act({ text, ask, onAct }: { text: string; ask: string; onAct: () => Promise<unknown> }) {
  const [state, setState] = useState<'idle' | 'asking' | 'busy'>('idle');
  const [problem, setProblem] = useState('');
  const first = useRef<HTMLButtonElement>(null);
  const refused = useRef<HTMLButtonElement>(null);
  const was = useRef(state);
  // The focused button was removed: the focus moves to its replacement, not to the top of the page.
  useEffect(() => {
    if (state === 'asking') refused.current?.focus();
    if (state === 'idle' && was.current !== 'idle') first.current?.focus();
    was.current = state;
  }, [state]);
  const act = (): void => {
    setState('busy');
    setProblem('');
    onAct()
      .catch((error: unknown) => setProblem(error instanceof Error ? error.message : String(error)))
      .finally(() => setState('idle'));
  };
  return (
    <span class="act">
      {state === 'asking' ? (
        <>
          <span>{ask}</span>
          <button class="danger" onClick={act}>
            Yes, {text.toLowerCase()}
          </button>
          <button ref={refused} onClick={() => setState('idle')}>
            No
          </button>
        </>
      ) : (
        <button ref={first} disabled={state === 'busy'} onClick={() => setState('asking')}>
          {text}
        </button>
      )}
      {problem !== '' && <span role="alert">{problem}</span>}
    </span>
  );
}
