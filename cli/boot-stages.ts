// Start times of a cluster's instances: the duration of each stage, one row per instance, the slowest first.
import type { Cluster } from '../sdk/client.ts';
import { formatTable } from './table.ts';
import type { Column } from './table.ts';
import { formatSpan, formatTime } from './times.ts';

type Instance = Cluster['instances'][number];
type Stages = NonNullable<Instance['stages']>;

const maxRows = 10;
const titles = {
  launched: 'Launch',
  running: 'Boot',
  agent: 'Agent',
  environment: 'Environment',
  dask: 'Dask',
} as const;
type Name = keyof typeof titles;
const names: readonly Name[] = ['launched', 'running', 'agent', 'environment', 'dask'];

/** Empty when no instance has stages. */
export function formatStages(instances: readonly Instance[]): string[] {
  const known = instances.flatMap(({ id, role, stages = [] }) => (stages.length < 2 ? [] : [{ id, role, stages }]));
  if (known.length === 0) return [];
  const shown = names.filter((name) => known.some(({ stages }) => stages.some((stage) => stage.name === name)));
  const columns: Column[] = [
    { title: 'Instance', align: 'left' },
    { title: 'Role', align: 'left' },
    { title: 'Requested', align: 'right' },
    ...shown.map((name) => ({ title: titles[name], align: 'right' as const })),
    { title: 'Total', align: 'right' },
  ];
  const rows = known
    .toSorted((a, b) => totalMs(b.stages) - totalMs(a.stages))
    .slice(0, maxRows)
    .map(({ id, role, stages }) => [
      id,
      role,
      formatTime(stages[0]?.at ?? null),
      ...shown.map((name) => spanOf(stages, name)),
      formatSpan(stages[0]?.at ?? null, stages.at(-1)?.at ?? null),
    ]);
  const more = known.length > maxRows ? [`  and ${known.length - maxRows} faster instances`] : [];
  return [formatTable(columns, rows), ...more];
}

/** The duration since the previous known stage. */
function spanOf(stages: Stages, name: Name): string {
  const at = stages.findIndex((stage) => stage.name === name);
  return at < 1 ? '' : formatSpan(stages[at - 1]?.at ?? null, stages[at]?.at ?? null);
}

const totalMs = (stages: Stages): number => Date.parse(stages.at(-1)?.at ?? '0') - Date.parse(stages[0]?.at ?? '0');
