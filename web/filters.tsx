// Filters of lists: state, user, text. The address does not change while one types.
import { useEffect, useState } from 'preact/hooks';

export interface Filter {
  status: string;
  q: string;
  open: boolean;
}

export const noFilter: Filter = { status: '', q: '', open: false };
const typingMs = 300;

/** The query of the API. */
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
          maxLength={200}
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
