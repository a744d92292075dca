// Explains the state of a cluster or job in sentences: read again when the page's data has changed.
import { useEffect, useState } from 'preact/hooks';

import type { Why } from '../schema/why.ts';
import { call, type Session } from './session.ts';

/** `changes` is a text that changes when the answer may. */
export function WhyList({ session, path, changes }: { session: Session; path: string; changes: string }) {
  const [why, setWhy] = useState<Why | null>(null);
  useEffect(() => {
    let isLeft = false;
    call<Why>(session, 'GET', path)
      .then((read) => isLeft || setWhy(read))
      // The rest of the page shows whether the API answers.
      .catch(() => undefined);
    return () => {
      isLeft = true;
    };
  }, [path, changes]);
  if (why === null) return null;
  return (
    <>
      <h2>Why</h2>
      <ul>
        {why.sentences.map(({ about, text, facts }) => (
          <li key={`${about} ${text}`}>
            {text} <small>{eventsOf(facts)}</small>
          </li>
        ))}
      </ul>
    </>
  );
}

/** The numbers in the table of events. */
function eventsOf(facts: Why['sentences'][number]['facts']): string {
  const numbers = [...new Set(facts.flatMap(({ events }) => events))].toSorted((a, b) => a - b);
  return numbers.map((number) => `#${number}`).join(' ');
}
