// The computations of a cluster: its tasks by function, its exceptions, the memory of its workers.
import type { Cluster } from '../schema/clusters.ts';
import { bytes, seconds } from './format.ts';
import { Facts, Table } from './parts.tsx';

type Usage = NonNullable<NonNullable<Cluster['dask']>['usage']>;

export function UsageTables({ usage: { groups = [], exceptions = [], memory } }: { usage: Usage }) {
  if (groups.length === 0 && exceptions.length === 0 && memory === undefined) return null;
  return (
    <>
      <h2>Computed</h2>
      {memory !== undefined && (
        <Facts facts={[['Memory of the workers', `${bytes(memory.usedBytes)} of ${bytes(memory.limitBytes)}`]]} />
      )}
      {groups.length > 0 && (
        <Table
          caption="Tasks by function, those with the most time first"
          columns={['Function', 'Tasks', 'Failed', 'Computed for', 'Transferred for']}
          rows={groups.map((each) => [
            ...[each.name, each.tasks, each.erred, seconds(each.computeSeconds), seconds(each.transferSeconds)],
          ])}
        />
      )}
      {exceptions.length > 0 && (
        <Table
          caption="Exceptions of failed tasks"
          columns={['Exception', 'Tasks']}
          rows={exceptions.map(({ type, count }) => [type, count])}
        />
      )}
    </>
  );
}
