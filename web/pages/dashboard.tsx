// The permanent URL of a dashboard: in a signed-in browser it creates a link, and follows it.
import { useEffect, useState } from 'preact/hooks';

import type { DashboardLink } from '../../schema/clusters.ts';
import { usePageHeading } from '../focus.ts';
import { call } from '../session.ts';
import type { Session } from '../session.ts';

export function DashboardPage({ session, number }: { session: Session; number: number }) {
  const [problem, setProblem] = useState('');
  const heading = usePageHeading();
  useEffect(() => {
    call<DashboardLink>(session, 'POST', `/v1/clusters/${number}/dashboard-link`)
      // `replace`: the back button must not return here.
      .then(({ url }) => location.replace(url))
      .catch((error: unknown) => setProblem(error instanceof Error ? error.message : String(error)));
  }, [number]);
  return (
    <>
      <h1 ref={heading} tabIndex={-1}>
        Dashboard of cluster {number}
      </h1>
      {problem === '' ? <p>Opening…</p> : <p role="alert">{problem}</p>}
      <p>
        <a href={`/clusters/${number}`}>Cluster {number}</a>
      </p>
    </>
  );
}
