// Output files of a job's tasks: read when the user opens the list.
import { useState } from 'preact/hooks';

import type { FilePage } from '../schema/files.ts';
import { bytes, time } from './format.ts';
import { usePages } from './pages-of.ts';
import { Table } from './parts.tsx';
import { call, type Session } from './session.ts';

export function JobFiles({ session, number }: { session: Session; number: number }) {
  const [isOpen, setOpen] = useState(false);
  const { items, isMore, problem, showMore } = usePages(
    (after) => {
      const query = after === null ? '' : `?after=${after}`;
      return call<FilePage>(session, 'GET', `/v1/jobs/${number}/files${query}`);
    },
    { list: String(number), isOpen },
  );
  return (
    <details class="more" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Files</summary>
      {problem !== '' && <p role="alert">{problem}</p>}
      {items.length === 0 && !isMore && <p class="empty">This job has kept no file.</p>}
      {items.length > 0 && (
        <>
          <p>
            <code>ropewalk batch files {number}</code> downloads them.
          </p>
          <Table
            caption="Files"
            columns={['Path', 'Task', 'Size', 'Stored']}
            rows={items.map((each) => [
              ...[<code>{each.path}</code>, each.task ?? '', bytes(each.bytes), time(each.storedAt)],
            ])}
          />
        </>
      )}
      {isMore && items.length > 0 && <button onClick={showMore}>Show more files</button>}
    </details>
  );
}
