// Files that the tasks of a job have left behind, where the job keeps them: read when one opens the list.
import { useEffect, useState } from 'preact/hooks';

import type { FilePage, ListedFile } from '../schema/files.ts';
import { bytes, time } from './format.ts';
import { Table } from './parts.tsx';
import { call, type Session } from './session.ts';

export function JobFiles({ session, number }: { session: Session; number: number }) {
  const [isOpen, setOpen] = useState(false);
  const [pages, setPages] = useState(1);
  const [{ items, isMore, problem }, setRead] = useState({ items: [] as ListedFile[], isMore: true, problem: '' });
  useEffect(() => {
    if (!isOpen) return;
    let isLeft = false;
    const read = async (): Promise<void> => {
      const found: ListedFile[] = [];
      let after: string | null = '';
      for (let page = 0; page < pages && after !== null && !isLeft; page += 1) {
        const query: string = after === '' ? '' : `?after=${after}`;
        const answer: FilePage = await call<FilePage>(session, 'GET', `/v1/jobs/${number}/files${query}`);
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
  }, [session.token, number, isOpen, pages]);
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
      {isMore && items.length > 0 && <button onClick={() => setPages(pages + 1)}>Show more files</button>}
    </details>
  );
}
