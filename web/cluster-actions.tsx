// Actions on an open cluster: its dashboard, manual or adaptive scaling, and stopping it.
import { useState } from 'preact/hooks';

import type { Cluster, DashboardLink } from '../schema/clusters.ts';
import { Act } from './parts.tsx';
import { call, mayWrite, type Session } from './session.ts';

/** The API's maximum. */
const maxWorkers = 1_000;

interface Props {
  session: Session;
  cluster: Cluster;
  hasJupyter: boolean;
}

export function ClusterActions({ session, cluster, hasJupyter }: Props) {
  const [problem, setProblem] = useState('');
  const path = `/v1/clusters/${cluster.number}`;
  const failed = (error: unknown): void => setProblem(error instanceof Error ? error.message : String(error));
  const send = (verb: string, body: object): void => {
    setProblem('');
    call(session, 'POST', `${path}/${verb}`, body).catch(failed);
  };
  const openLink = (link: string): void => {
    setProblem('');
    // Opened at once, because browsers block windows opened after an await.
    const opened = window.open('about:blank', '_blank');
    call<DashboardLink>(session, 'POST', `${path}/${link}`)
      .then(({ url }) => {
        if (opened !== null) opened.opener = null;
        opened?.location.replace(url);
      })
      .catch((error: unknown) => {
        opened?.close();
        failed(error);
      });
  };
  const { dask } = cluster;
  // Another user's private cluster: an admin may only stop it.
  const isWithheld = cluster.withheld === true;
  // A waiting cluster can only be stopped.
  const hasWorkflow = cluster.status !== 'waiting';
  return (
    <div class="actions">
      {dask !== null && dask.schedulerAddress !== null && (
        <button class="primary" onClick={() => openLink('dashboard-link')}>
          Open the Dask dashboard
        </button>
      )}
      {hasJupyter && mayWrite(session) && dask !== null && dask.schedulerAddress !== null && (
        <button onClick={() => openLink('jupyter-link')}>Open Jupyter</button>
      )}
      {mayWrite(session) && !isWithheld && dask !== null && hasWorkflow && <Size dask={dask} send={send} />}
      {mayWrite(session) && (
        <Act
          text="Stop"
          ask="Stop the cluster and all its instances?"
          onAct={() => call(session, 'POST', `${path}/stop`)}
        />
      )}
      {problem !== '' && <span role="alert">{problem}</span>}
    </div>
  );
}

type Dask = NonNullable<Cluster['dask']>;

function Size({ dask, send }: { dask: Dask; send: (verb: string, body: object) => void }) {
  const { adaptive, workersWanted } = dask;
  const [isRange, setRange] = useState(adaptive !== null);
  const [workers, setWorkers] = useState(String(workersWanted));
  const [minimum, setMinimum] = useState(String(adaptive?.minimum ?? workersWanted));
  const [maximum, setMaximum] = useState(String(adaptive?.maximum ?? Math.max(1, workersWanted)));
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (isRange) send('adapt', { minimum: Number(minimum), maximum: Number(maximum) });
        else send('scale', { workers: Number(workers) });
      }}
    >
      <label>
        Scaling
        <select
          value={isRange ? 'adaptive' : 'by hand'}
          onChange={(event) => setRange(event.currentTarget.value === 'adaptive')}
        >
          <option>by hand</option>
          <option>adaptive</option>
        </select>
      </label>
      {isRange ? (
        <>
          <Count label="Minimum" value={minimum} min={0} max={maxWorkers} onChange={setMinimum} />
          <Count
            label="Maximum"
            value={maximum}
            min={Math.max(1, Number(minimum))}
            max={maxWorkers}
            onChange={setMaximum}
          />
        </>
      ) : (
        <Count label="Workers" value={workers} min={0} max={maxWorkers} onChange={setWorkers} />
      )}
      <button>{isRange ? 'Adapt' : 'Scale'}</button>
    </form>
  );
}

/** The browser refuses an empty field, which as a number would be 0 and end all workers. */
function Count(props: { label: string; value: string; min: number; max: number; onChange: (value: string) => void }) {
  const { label, value, min, max, onChange } = props;
  return (
    <label>
      {label}
      <input type="number" required {...{ min, max, value }} onInput={(event) => onChange(event.currentTarget.value)} />
    </label>
  );
}
