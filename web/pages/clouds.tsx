// The clouds of the control plane: regions, the workspace's accounts there, and the findings of their checks. For admins.
import { useCallback, useState } from 'preact/hooks';

import type { Cloud, CloudList } from '../../schema/clouds.ts';
import { Facts, State, Table, Title, When } from '../parts.tsx';
import { useReading } from '../read.ts';
import { call, type Session } from '../session.ts';

export function CloudsPage({ session }: { session: Session }) {
  const read = useCallback(() => call<CloudList>(session, 'GET', '/v1/clouds'), [session]);
  const { value, problem, again } = useReading(read);
  return (
    <>
      <Title text="Cloud accounts" />
      {problem !== '' && <p role="alert">{problem}</p>}
      {value?.items.map((cloud) => (
        <CloudSection key={cloud.name} session={session} cloud={cloud} onChecked={again} />
      ))}
    </>
  );
}

function CloudSection(props: { session: Session; cloud: Cloud; onChecked: () => Promise<void> }) {
  const { session, cloud, onChecked } = props;
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState('');
  const check = (): void => {
    setBusy(true);
    setProblem('');
    call(session, 'POST', '/v1/cloud-checks', { cloud: cloud.name })
      .then(onChecked)
      .catch((error: unknown) => setProblem(error instanceof Error ? error.message : String(error)))
      .finally(() => setBusy(false));
  };
  return (
    <section aria-label={cloud.title}>
      <h2>{cloud.title}</h2>
      {cloud.kind === 'host' && <p>Instances are processes of this machine: it has no account and nothing to check.</p>}
      {cloud.regions.length > 0 && (
        <Facts
          facts={[
            ['Provider', cloud.name],
            ...cloud.regions.map(({ name, zones }): [string, string] => [`Region ${name}`, zones.join(', ')]),
          ]}
        />
      )}
      {cloud.accounts.length > 0 && (
        <Table
          caption={`Accounts of ${cloud.title}`}
          columns={['Of', 'Account', 'Detail']}
          rows={cloud.accounts.map(({ workspace, account, detail }) => [
            ...[workspace === null ? 'all workspaces without their own' : `workspace ${workspace}`],
            ...[<code>{account}</code>, detail],
          ])}
        />
      )}
      {cloud.checks.length > 0 && (
        <>
          <Table
            caption={`Checks of ${cloud.title}`}
            columns={['Check', 'State', 'Found', 'What to do', 'When']}
            rows={cloud.checks.map(({ name, state, text, fix, at }) => [
              ...[name, <State state={state} />, text, fix, <When at={at} />],
            ])}
          />
          <div class="actions">
            <button disabled={isBusy} onClick={check}>
              {isBusy ? 'Checking…' : `Check ${cloud.name} now`}
            </button>
            {problem !== '' && <span role="alert">{problem}</span>}
          </div>
        </>
      )}
    </section>
  );
}
