// The start-up of each instance: a bar from its request to its start, a colour for each stage, and its duration.
import type { Cluster } from '../schema/clusters.ts';
import { span } from './format.ts';
import { State, Table } from './parts.tsx';

type Instance = Cluster['instances'][number];
const shownAtOnce = 200;
const stageNames = ['launched', 'running', 'agent', 'environment', 'dask'] as const;

export function Stages({ instances, createdAt }: { instances: Instance[]; createdAt: string }) {
  if (instances.length === 0) return <p class="empty">No instance exists now.</p>;
  const startMs = Date.parse(createdAt);
  const ends = instances.flatMap(({ stages = [] }) => stages.map(({ at }) => Date.parse(at)));
  const wholeMs = Math.max(1, ...ends.map((at) => at - startMs));
  const rows = instances
    .slice(0, shownAtOnce)
    .map((instance) => [
      <code>{instance.id}</code>,
      instance.role === 'head' ? 'scheduler' : 'worker',
      instance.market === 'spot' ? `${instance.type} (spot)` : instance.type,
      <State state={instance.state === 'ready' ? (instance.process?.state ?? 'ready') : instance.state} />,
      <Timeline instance={instance} startMs={startMs} wholeMs={wholeMs} />,
      instance.reason?.text ?? instance.process?.reason?.text ?? '',
    ]);
  return (
    <>
      <p class="legend">
        Start:
        {stageNames.map((name) => (
          <span key={name}>
            <i class={`stage-${name}`} /> {name}
          </span>
        ))}
      </p>
      <Table caption="Instances" columns={['Instance', 'Role', 'Type', 'State', 'Start', 'Reason']} rows={rows} />
      {instances.length > shownAtOnce && (
        <p>
          The first {shownAtOnce} of {instances.length}.
        </p>
      )}
    </>
  );
}

function Timeline({ instance, startMs, wholeMs }: { instance: Instance; startMs: number; wholeMs: number }) {
  const stages = instance.stages ?? [];
  const first = stages[0];
  if (first === undefined) return null;
  const parts = stages.slice(1).map(({ name, at }, index) => {
    const from = Date.parse(stages[index]?.at ?? at);
    return { name, text: span(stages[index]?.at ?? at, at), share: Math.max(0, Date.parse(at) - from) / wholeMs };
  });
  const text = parts.map((part) => `${part.name} after ${part.text}`).join(', ');
  return (
    <div class="timeline" role="img" aria-label={text === '' ? 'requested' : text} title={text}>
      <i class="before" style={{ width: `${((Date.parse(first.at) - startMs) / wholeMs) * 100}%` }} />
      {parts.map(({ name, share }) => (
        <i key={name} class={`stage-${name}`} style={{ width: `${share * 100}%` }} />
      ))}
    </div>
  );
}
