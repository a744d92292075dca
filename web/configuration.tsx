// The requested configuration of a cluster or job: instance types, limits and software.
import { useEffect, useState } from 'preact/hooks';

import type { Configuration } from '../schema/configuration.ts';
import { dollars, seconds } from './format.ts';
import { Facts } from './parts.tsx';
import { call, type Session } from './session.ts';

/** Null until it is read, and where reading is forbidden. `path` is that of the cluster or job in the API. */
export function useConfiguration(session: Session, path: string): Configuration | null {
  const [configuration, setConfiguration] = useState<Configuration | null>(null);
  useEffect(() => {
    let isLeft = false;
    setConfiguration(null);
    call<Configuration>(session, 'GET', `${path}/configuration`)
      .then((read) => isLeft || setConfiguration(read))
      // The rest of the page shows whether the API answers.
      .catch(() => undefined);
    return () => {
      isLeft = true;
    };
  }, [session.token, path]);
  return configuration;
}

export function ConfigurationSection({ configuration }: { configuration: Configuration }) {
  const { software } = configuration;
  return (
    <>
      <h2>Configuration</h2>
      <Facts facts={[...machineFacts(configuration), ...limitFacts(configuration), ...softwareFacts(software)]} />
      {software !== null && software.requirements.length + software.packageFiles.length > 0 && (
        <details class="packages">
          <summary>Packages</summary>
          <pre tabIndex={0} aria-label="Packages">
            {[...software.requirements, ...software.packageFiles.map(({ name }) => name)].join('\n')}
          </pre>
        </details>
      )}
    </>
  );
}

type Facts = [string, string][];

function machineFacts({ machines, instances }: Configuration): Facts {
  if (machines === null) return [['Instances at first', String(instances)]];
  const { workerTypes, headTypes, spotPolicy, zones, diskGib, tags, waitForCapacitySeconds } = machines;
  const tagged = Object.entries(tags).map(([key, value]) => `${key}=${value}`);
  return [
    ['Instances at first', String(instances)],
    ['Types of workers', workerTypes.join(', ')],
    ['Types of the head instance', headTypes.join(', ')],
    ['Market', spotPolicy.replaceAll('_', ' ')],
    ['Zones', zones.join(', ')],
    ['Disk', `${diskGib} GiB`],
    ...(tagged.length === 0 ? [] : [['Tags', tagged.join(', ')] satisfies [string, string]]),
    ...timeFact('Waits for capacity', waitForCapacitySeconds),
  ];
}

const limitFacts = ({ limits }: Configuration): Facts => [
  ...(limits.maxCostDollars === null
    ? []
    : [['Ends at a cost of', dollars(limits.maxCostDollars)] satisfies [string, string]]),
  ...timeFact('Ends when idle for', limits.idleTimeoutSeconds),
  ...timeFact('Ends without a client for', limits.noClientTimeoutSeconds),
  ...timeFact('Ends at an age of', limits.maxLifetimeSeconds ?? limits.jobTimeoutSeconds),
  ...timeFact('Ends a task after', limits.taskTimeoutSeconds),
  ...(limits.retries === null ? [] : [['Retries of a failed task', String(limits.retries)] satisfies [string, string]]),
];

const timeFact = (name: string, value: number | null): Facts => (value === null ? [] : [[name, seconds(value)]]);

function softwareFacts(software: Configuration['software']): Facts {
  if (software === null) return [['Software', 'not kept after the end']];
  const { kind, image, python, requirements, packageFiles, environmentVariables, hasHostSetupScript } = software;
  const count = requirements.length + packageFiles.length;
  const packages = count === 1 ? '1 package' : `${count} packages`;
  const text = {
    host: 'the programs of the instance',
    container: `the container ${image ?? ''}`,
    environment: `Python ${python ?? 'of the instance'}, ${count === 0 ? 'Dask and what it needs' : packages}`,
  };
  return [
    ['Software', text[kind]],
    ...(environmentVariables.length === 0
      ? []
      : [['Variables', environmentVariables.join(', ')] satisfies [string, string]]),
    ...(hasHostSetupScript ? [['Before anything else', 'a host setup script'] satisfies [string, string]] : []),
  ];
}
