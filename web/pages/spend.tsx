// Spend by user, tag, job, cluster, day or type, a bar for each day, and budgets.
import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

import { costsCsv } from '../../domain/cost/csv.ts';
import type { Costs } from '../../schema/costs.ts';
import { dayRange, dollarLabels } from '../axes.ts';
import { useChart } from '../chart.ts';
import { dollars, textOf, time } from '../format.ts';
import { Facts, Table, Title } from '../parts.tsx';
import { useQuery } from '../router.ts';
import { Budgets } from '../sections/budgets.tsx';
import { call, type Session } from '../session.ts';

const groupings = ['user', 'tag', 'job', 'cluster', 'day', 'type'] as const;
const periods = ['1 day', '7 days', '30 days', '90 days', '365 days'] as const;
const usual = { by: 'user', since: '30 days' };
const retryMs = 5_000;
/** Some browsers read it only after the click has ended. */
const csvKeptMs = 60_000;

export function SpendPage({ session }: { session: Session }) {
  const [asked, ask] = useQuery(usual);
  const by = oneOf(groupings, asked.by) ?? usual.by;
  const since = oneOf(periods, asked.since) ?? usual.since;
  const [problem, setProblem] = useState('');
  const [costs, setCosts] = useState<{ grouped: Costs; days: Costs } | null>(null);
  useEffect(() => {
    let isLeft = false;
    let retry: ReturnType<typeof setTimeout> | undefined;
    const read = (grouping: string) =>
      call<Costs>(session, 'GET', `/v1/costs?${new URLSearchParams({ by: grouping, since }).toString()}`);
    const readBoth = (): void =>
      void Promise.all([read(by), read('day')]).then(
        ([grouped, days]) => {
          if (isLeft) return;
          setCosts({ grouped, days });
          setProblem('');
        },
        (error: unknown) => {
          if (isLeft) return;
          setProblem(textOf(error));
          retry = setTimeout(readBoth, retryMs);
        },
      );
    readBoth();
    return () => {
      isLeft = true;
      clearTimeout(retry);
    };
  }, [by, since]);
  return (
    <>
      <Title text="Spend" />
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <Choice label="By" value={by} choices={groupings} onChange={(next) => ask({ by: next, since })} />
        <Choice label="Of the last" value={since} choices={periods} onChange={(next) => ask({ by, since: next })} />
      </form>
      {problem !== '' && <p role="alert">{problem}</p>}
      {costs !== null && <Spent key={`${by} ${since}`} costs={costs.grouped} days={costs.days} />}
      <Budgets session={session} />
    </>
  );
}

const capitalized = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;

const oneOf = (choices: readonly string[], text: string): string | undefined => choices.find((each) => each === text);

/** Lines that are shown at first, and with each `Show more`: of 10,000 clusters, all at once would hold the page up. */
const linesShown = 200;

function Spent({ costs, days }: { costs: Costs; days: Costs }) {
  const { total } = costs;
  const [shown, setShown] = useState(linesShown);
  return (
    <>
      <Facts
        facts={[
          ['Since', time(costs.since)],
          ['Approx cloud cost', dollars(total.dollars)],
          ['Per hour now', dollars(total.dollarsPerHour)],
          ['Instance hours', total.instanceHours.toFixed(1)],
        ]}
      />
      <DayChart days={days} />
      {costs.items.length === 0 ? (
        <p class="empty">No instance has run in this time.</p>
      ) : (
        <Table
          caption={`Spend by ${costs.by}`}
          columns={[capitalized(costs.by), 'Instances', 'Instance hours', 'Approx cost', 'Per hour now']}
          rows={costs.items
            .slice(0, shown)
            .map((line) => [
              line.name === null ? line.key || 'without a tag' : `${line.key} ${line.name}`.trim(),
              line.instances,
              line.instanceHours.toFixed(2),
              dollars(line.dollars),
              dollars(line.dollarsPerHour),
            ])}
        />
      )}
      {costs.items.length > 0 && (
        <div class="actions">
          {costs.items.length > shown && <button onClick={() => setShown(shown + linesShown)}>Show more</button>}
          <button onClick={() => saveCsv(costs)}>Download CSV</button>
        </div>
      )}
      {costs.priceSources.length > 0 && <p class="legend">Prices: {costs.priceSources.join('; ')}</p>}
    </>
  );
}

/** All lines, also those that the page does not show yet. */
function saveCsv(costs: Costs): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([`${costsCsv(costs)}\n`], { type: 'text/csv' }));
  link.download = `ropewalk-cost-by-${costs.by}-${costs.since.slice(0, 10)}-to-${costs.until.slice(0, 10)}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), csvKeptMs);
}

const nothing: Costs['items'] = [];

function DayChart({ days }: { days: Costs }) {
  const place = useRef<HTMLDivElement>(null);
  // Days on which nothing was spent, such as those of clusters on this machine, have no bars.
  const items = days.total.dollars > 0 ? days.items : nothing;
  useChart(place, items, draw);
  if (items.length === 0) return null;
  const label = `Cost by day: ${items.map((each) => `${each.key} ${dollars(each.dollars)}`).join(', ')}`;
  return <div class="chart" ref={place} role="img" aria-label={label} />;
}

const daySeconds = 86_400;
const dayText = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', timeZone: 'UTC' });

/** Drawn on a canvas with the current colours. */
function draw(root: HTMLElement, items: Costs['items']): uPlot {
  const style = getComputedStyle(root);
  const [ink, line] = [style.getPropertyValue('--muted'), style.getPropertyValue('--line')];
  const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
  const days = items.map(({ key }) => Date.parse(`${key}T00:00:00Z`) / 1_000);
  const bars = uPlot.paths.bars?.({ size: [0.7, 40] });
  return new uPlot(
    {
      ...{ width: root.clientWidth, height: 180, legend: { show: false }, cursor: { show: false } },
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), 'UTC'),
      scales: {
        x: { range: () => dayRange(days) },
        y: { range: (_chart, _min, max) => [0, Math.max(max * 1.1, 0.01)] },
      },
      axes: [
        {
          ...axis,
          grid: { show: false },
          incrs: [1, 2, 7, 14, 30, 90].map((each) => each * daySeconds),
          values: (_chart, values) => values.map((each) => dayText.format(each * 1_000)),
        },
        { ...axis, size: 70, values: (_chart, values, _axis, _space, step) => dollarLabels(values, step) },
      ],
      series: [
        {},
        {
          fill: style.getPropertyValue('--accent'),
          points: { show: false },
          ...(bars === undefined ? {} : { paths: bars }),
        },
      ],
    },
    [days, items.map((each) => each.dollars)],
    root,
  );
}

function Choice(props: {
  label: string;
  value: string;
  choices: readonly string[];
  onChange: (value: string) => void;
}) {
  return (
    <label>
      {props.label}
      <select value={props.value} onChange={(event) => props.onChange(event.currentTarget.value)}>
        {props.choices.map((choice) => (
          <option key={choice}>{choice}</option>
        ))}
      </select>
    </label>
  );
}
