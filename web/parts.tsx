// Components that several pages share.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import { useFocusAfter, usePageHeading } from './focus.ts';
import { shortTime, textOf, time } from './format.ts';
import type { LiveState } from './live.ts';

const tones: Record<string, string> = {
  ...{ ready: 'good', done: 'good', started: 'good', running: 'busy', starting: 'busy', scaling: 'busy' },
  ...{ assigned: 'busy', stopping: 'busy', pending: 'idle', stopped: 'idle', cancelled: 'idle' },
  ...{ error: 'bad', unknown: 'bad', exceeded: 'bad', rejected: 'bad', waiting: 'idle', warned: 'busy' },
  ...{ broken: 'bad', approved: 'good', ok: 'good', valid: 'good', enabled: 'good' },
  ...{ delivered: 'good', failed: 'bad', disabled: 'bad' },
  ...{ active: 'good', paused: 'idle', due: 'busy', skipped: 'idle', refused: 'bad' },
};

export const State = ({ state }: { state: string }) => <span class={`state ${tones[state] ?? 'idle'}`}>{state}</span>;

export function Title({ text, live, children }: { text: string; live?: LiveState; children?: ComponentChildren }) {
  const heading = usePageHeading();
  useEffect(() => {
    document.title = `${text} · Ropewalk`;
  }, [text]);
  return (
    <div class="title">
      <h1 ref={heading} tabIndex={-1}>
        {text}
      </h1>
      {children}
      <span class={`connection ${live ?? ''}`} role="status">
        {live === 'live' && 'live'}
        {live === 'away' && 'connection lost, trying again'}
        {live === 'connecting' && 'connecting'}
      </span>
    </div>
  );
}

interface TableProps {
  caption: string;
  columns: string[];
  rows: ComponentChildren[][];
  /** Of each row, in order: a row with actions needs one, so that an open question stays with its object when rows come and go. */
  keys?: (string | number)[];
}

/** A table whose rows become blocks on a narrow screen: each cell then names its column. */
export function Table({ caption, columns, rows, keys }: TableProps) {
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
          <Row key={keys?.[row] ?? row} {...{ cells, columns }} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ cells, columns }: { cells: ComponentChildren[]; columns: string[] }) {
  const row = useFocusAfter<HTMLTableRowElement>();
  return (
    <tr ref={row}>
      {cells.map((cell, at) => (
        <td key={at} data-column={columns[at]}>
          {cell}
        </td>
      ))}
    </tr>
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

/** Used of a whole: the text says it, and a bar shows it. */
export const Share = ({ of, used, text }: { of: number; used: number; text: string }) => {
  const percent = of > 0 ? Math.min(100, (used / of) * 100) : 0;
  const tone = percent >= 100 ? 'bad' : 'busy';
  return (
    <span class="used">
      {text} <span class="muted">({Math.floor(of > 0 ? (used / of) * 100 : 0)} %)</span>
      <span class="share" aria-hidden="true">
        <i class={tone} style={{ width: `${percent}%` }} />
      </span>
    </span>
  );
};

interface ActProps {
  text: string;
  /** Where several rows have the same button: for those who do not see the row. */
  of?: string;
  ask: string;
  onAct: () => Promise<unknown>;
}

/** Asks before it acts, and shows why it could not. */
export function Act({ text, of, ask, onAct }: ActProps) {
  const [state, setState] = useState<'idle' | 'asking' | 'busy'>('idle');
  const [problem, setProblem] = useState('');
  const first = useRef<HTMLButtonElement>(null);
  const refused = useRef<HTMLButtonElement>(null);
  const was = useRef(state);
  const whole = useFocusAfter<HTMLSpanElement>();
  // The focused button was removed: the focus moves to its replacement, not to the top of the page.
  useEffect(() => {
    if (state === 'asking') refused.current?.focus();
    else if (was.current === 'asking') first.current?.focus();
    was.current = state;
  }, [state]);
  const act = (): void => {
    setState('busy');
    setProblem('');
    onAct()
      .catch((error: unknown) => setProblem(textOf(error)))
      .finally(() => setState('idle'));
  };
  return (
    <span class="act" ref={whole}>
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
        <button
          ref={first}
          class={of === undefined ? '' : 'small'}
          aria-label={of === undefined ? undefined : `${text} ${of}`}
          // A disabled button would lose the focus.
          aria-disabled={state === 'busy'}
          onClick={() => state === 'idle' && setState('asking')}
        >
          {text}
        </button>
      )}
      {problem !== '' && <span role="alert">{problem}</span>}
    </span>
  );
}
