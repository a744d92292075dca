// One cluster: its state, its instances with their start-up, events, cost, and actions.
import type { Cluster } from '../../schema/clusters.ts';
import { ClusterActions } from '../cluster-actions.tsx';
import { ConfigurationSection, useConfiguration } from '../configuration.tsx';
import { CostChart } from '../cost-chart.tsx';
import { cost, dollars, span, time } from '../format.ts';
import { useLive } from '../live.ts';
import { Logs } from '../logs.tsx';
import { WhyList } from '../why.tsx';
import { Bar, Facts, Failures, State, Table, Title, When } from '../parts.tsx';
import { isAdmin, type Session } from '../session.ts';
import { TimeMachine } from '../time-machine.tsx';
import { Stages } from '../stages.tsx';
import { UsageTables } from '../usage.tsx';

export function ClusterPage({ session, number }: { session: Session; number: number }) {
  const { value: cluster, state, problem } = useLive<Cluster>(session, `/v1/live/clusters/${number}?follow=true`);
  const configuration = useConfiguration(session, `/v1/clusters/${number}`);
  if (cluster === null) {
    return (
      <>
        <Title text={`Cluster ${number}`} live={state} />
        {problem !== null && <p role="alert">{problem}</p>}
      </>
    );
  }
  const isOpen = cluster.endedAt === null;
  const isWithheld = cluster.withheld === true;
  return (
    <>
      <Title text={cluster.name} live={state}>
        <State state={cluster.status} />
      </Title>
      {isWithheld && <p class="note">This cluster is private: only its creator sees the rest.</p>}
      {cluster.gpus && cluster.gpus.idle > 0 && cluster.endedAt === null && (
        <p class="note">GPUs do nothing: {gpuText(cluster.gpus)}.</p>
      )}
      {!isWithheld && cluster.reason !== null && <p class="note">{cluster.reason.text}</p>}
      {!isWithheld && cluster.waitingForCapacity && <p class="note">{cluster.waitingForCapacity.text}</p>}
      {isOpen && (!isWithheld || isAdmin(session)) && (
        <ClusterActions session={session} cluster={cluster} hasJupyter={configuration?.software?.jupyter === true} />
      )}
      <Facts facts={factsOf(cluster)} />
      {!isWithheld && (
        <WhyList
          session={session}
          path={`/v1/clusters/${number}/why`}
          changes={[cluster.status, cluster.target, cluster.events.length].join()}
        />
      )}
      {!isWithheld && (
        <>
          <h2>Instances</h2>
          <Bar parts={countStates(cluster)} label="Instances by state" />
          <Stages instances={cluster.instances} createdAt={cluster.createdAt} />
        </>
      )}
      {!isWithheld && <CostChart session={session} path={`/v1/clusters/${number}/costs`} cost={cluster.cost ?? null} />}
      <Failures failures={cluster.failures} />
      {cluster.dask?.usage && <UsageTables usage={cluster.dask.usage} />}
      {configuration !== null && <ConfigurationSection configuration={configuration} />}
      {!isWithheld && <h2>Events</h2>}
      {cluster.events.length === 0 ? (
        !isWithheld && <p class="empty">Nothing has happened yet: events begin with the start.</p>
      ) : (
        <Table
          caption="Events, newest first"
          columns={['#', 'When', 'What', 'By', 'Text']}
          rows={cluster.events
            .toReversed()
            .map(({ seq, at, code, by, text }) => [seq, <When at={at} />, code, by ?? '', text])}
        />
      )}
      {!isWithheld && (
        <TimeMachine
          session={session}
          path={`/v1/clusters/${number}`}
          from={cluster.createdAt}
          until={cluster.endedAt}
        />
      )}
      {!isWithheld && <Logs session={session} path={`/v1/clusters/${cluster.number}/logs`} />}
    </>
  );
}

function factsOf(cluster: Cluster): Parameters<typeof Facts>[0]['facts'] {
  const { dask, provider, region = null, cost: own } = cluster;
  const perHour = own ? `, ${dollars(own.dollarsPerHour)} an hour now` : '';
  return [
    ['Number', String(cluster.number)],
    ['User', cluster.user],
    ['Created', time(cluster.createdAt)],
    ['Ready after', cluster.readyAt === null ? 'not yet' : span(cluster.createdAt, cluster.readyAt)],
    ['Ended', cluster.endedAt === null ? 'open' : time(cluster.endedAt)],
    ['Provider', region === null ? provider : `${provider}, ${region}`],
    ['Approx cloud cost', own ? `${cost(own)}${cluster.endedAt === null ? perHour : ''}` : 'none yet'],
    ...(cluster.gpus ? [['GPUs', gpuText(cluster.gpus)] satisfies [string, string]] : []),
    ...(dask === null ? [] : daskFacts(dask)),
  ];
}

const gpuText = ({ total, idle, idleSince }: NonNullable<Cluster['gpus']>): string =>
  idle === 0 ? `${total}, none idle` : `${idle} of ${total} idle since ${time(idleSince)}`;

function daskFacts(dask: NonNullable<Cluster['dask']>): Parameters<typeof Facts>[0]['facts'] {
  const { tasks, adaptive } = dask;
  return [
    ['Scheduler', dask.schedulerAddress ?? 'not started'],
    [
      'Workers',
      `${dask.workersStarted} of ${dask.workersWanted}${dask.workersErrored > 0 ? `, ${dask.workersErrored} failed` : ''}`,
    ],
    ...(dask.idleSince === null ? [] : [['Idle since', time(dask.idleSince)] satisfies [string, string]]),
    ['Scaling', adaptive === null ? 'by hand' : `adaptive, ${adaptive.minimum} to ${adaptive.maximum}`],
    ['Clients', String(dask.clients ?? 'unknown')],
    [
      'Dask tasks',
      tasks === null ? 'unknown' : `${tasks.processing} processing, ${tasks.waiting} waiting, ${tasks.erred} erred`,
    ],
  ];
}

function countStates({ instances }: Cluster): { state: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const { state, process } of instances) {
    const shown = state === 'ready' ? (process?.state ?? 'ready') : state;
    counts.set(shown, (counts.get(shown) ?? 0) + 1);
  }
  return [...counts].map(([state, count]) => ({ state, count }));
}
