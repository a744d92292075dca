// A list whose newest page is live. Older pages are read on demand, and again when their items move.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

import { usePages } from './pages-of.ts';
import { Table } from './parts.tsx';
import { call, type Session } from './session.ts';

interface Page<T> {
  items: T[];
  next: string | null;
}

interface Props<T> {
  session: Session;
  caption: string;
  columns: string[];
  rowOf: (item: T) => ComponentChildren[];
  newest: Page<T>;
  /** The list's path in the API, with its filters. */
  path: string;
}

export function LiveList<T>({ session, caption, columns, rowOf, newest, path }: Props<T>) {
  const [isOpen, setOpen] = useState(false);
  const readsOlder = isOpen && newest.next !== null;
  const older = usePages<T>((after) => call(session, 'GET', `${path}&after=${after ?? newest.next ?? ''}`), {
    ...{ list: path, changes: newest.next, isOpen: readsOlder },
  });
  const items = readsOlder ? [...newest.items, ...older.items] : newest.items;
  const isMore = newest.next !== null && (!isOpen || older.isMore);
  return (
    <>
      <Table caption={caption} columns={columns} rows={items.map(rowOf)} />
      {older.problem !== '' && <p role="alert">{older.problem}</p>}
      {isMore && <button onClick={() => (isOpen ? older.showMore() : setOpen(true))}>Show more</button>}
    </>
  );
}
