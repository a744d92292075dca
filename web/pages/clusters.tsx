// All Dask clusters, newest first, live.
import type { Cluster, ClusterPage } from '../../schema/clusters.ts';
import { Filters, isFiltered, queryOf, useFilter } from '../filters.tsx';
import { cost } from '../format.ts';
import { useLive } from '../live.ts';
import { LiveList } from '../live-list.tsx';
import { State, Title, When } from '../parts.tsx';
import type { Session } from '../session.ts';

const statuses = ['waiting', 'pending', 'starting', 'scaling', 'ready', 'stopping', 'stopped', 'error'] as const;
const columns = ['ID', 'Name', 'State', 'Workers', 'Created', 'Ended', 'Approx cost', 'User'];

export function ClustersPage({ session }: { session: Session }) {
  const [filter, setFilter] = useFilter(statuses);
  const query = queryOf(filter, { kind: 'dask' });
  const live = useLive<ClusterPage>(session, `/v1/live/clusters?${query}&follow=true`);
  return (
    <>
      <Title text="Clusters" live={live.state} />
      <Filters statuses={statuses} filter={filter} onChange={setFilter} />
      {live.value === null && live.problem !== null && <p role="alert">{live.problem}</p>}
      {live.value !== null && live.value.items.length === 0 && (
        <p class="empty">
          {isFiltered(filter) ? (
            'No cluster is as the search and the filters ask.'
          ) : (
            <>
              No cluster is here. Start one: <code>ropewalk cluster create --wait</code>
            </>
          )}
        </p>
      )}
      {live.value !== null && live.value.items.length > 0 && (
        <LiveList
          key={query}
          caption="Clusters, newest first"
          {...{ session, columns, rowOf }}
          newest={live.value}
          path={`/v1/clusters?${query}`}
        />
      )}
    </>
  );
}

const rowOf = (cluster: Cluster) => [
  <a href={`/clusters/${cluster.number}`}>{cluster.number}</a>,
  <a href={`/clusters/${cluster.number}`}>{cluster.name}</a>,
  <State state={cluster.status} />,
  cluster.dask === null ? '' : `${cluster.dask.workersStarted} / ${cluster.dask.workersWanted}`,
  <When at={cluster.createdAt} />,
  <When at={cluster.endedAt} />,
  cost(cluster.cost),
  cluster.user,
];
