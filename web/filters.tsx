// Filters of lists: state, text, only open ones. They are part of the page's URL.
import { useEffect, useState } from 'preact/hooks';

import { useQuery } from './router.ts';

const maxText = 200;

export interface Filter {
  status: string;
  q: string;
  open: boolean;
}

const typingMs = 300;

export function useFilter(statuses: readonly string[]): [Filter, (filter: Filter) => void] {
  const [{ status, q, open }, change] = useQuery({ status: '', q: '', open: '' });
  const filter = { status: statuses.includes(status) ? status : '', q: q.slice(0, maxText), open: open === 'true' };
  return [filter, (next) => change({ ...next, open: next.open ? 'true' : '' })];
}

export const isFiltered = ({ status, q, open }: Filter): boolean => status !== '' || q !== '' || open;

/** The API's query. */
export function queryOf({ status, q, open }: Filter, more: Record<string, string> = {}): string {
  const query = new URLSearchParams({ ...more, limit: '200' });
  if (status !== '') query.set('status', status);
  if (q !== '') query.set('q', q);
  if (open) query.set('open', 'true');
  return query.toString();
}

export function Filters(props: { statuses: readonly string[]; filter: Filter; onChange: (filter: Filter) => void }) {
  const { statuses, filter, onChange } = props;
  const [text, setText] = useState(filter.q);
  useEffect(() => {
    if (text === filter.q) return;
    const timer = setTimeout(() => onChange({ ...filter, q: text }), typingMs);
    return () => clearTimeout(timer);
  }, [text, filter]);
  return (
    <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
      <label>
        Search
        <input
          type="search"
          value={text}
          maxLength={maxText}
          placeholder="name or command"
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <label>
        State
        <select value={filter.status} onChange={(event) => onChange({ ...filter, status: event.currentTarget.value })}>
          <option value="">all</option>
          {statuses.map((status) => (
            <option key={status}>{status}</option>
          ))}
        </select>
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={filter.open}
          onChange={(event) => onChange({ ...filter, open: event.currentTarget.checked })}
        />
        only open
      </label>
    </form>
  );
}
