// The cost of one job or cluster, as a line over time.
import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

import type { CostOverTime, OwnCost } from '../schema/costs.ts';
import { dollarLabels, timeLabels } from './axes.ts';
import { useChart } from './chart.ts';
import { dollars, time } from './format.ts';
import { call, type Session } from './session.ts';

/** `cost` is the page's current value; when it changes, the line is read again. */
export function CostChart({ session, path, cost }: { session: Session; path: string; cost: OwnCost }) {
  const [points, setPoints] = useState<CostOverTime['points']>([]);
  const place = useRef<HTMLDivElement>(null);
  const spent = cost?.dollars ?? 0;
  useEffect(() => {
    if (spent === 0) return;
    let isLeft = false;
    call<CostOverTime>(session, 'GET', path).then(
      (read) => isLeft || setPoints(read.points),
      () => undefined,
    );
    return () => {
      isLeft = true;
    };
  }, [session.token, path, spent]);
  useChart(place, points, draw);
  const [first] = points;
  const last = points.at(-1);
  if (first === undefined || last === undefined) return null;
  const label = `Approx cloud cost from ${time(first.at)} to ${time(last.at)}: ${dollars(last.dollars)}`;
  return (
    <>
      <h2>Cost over time</h2>
      <div class="chart" ref={place} role="img" aria-label={label} />
    </>
  );
}

function draw(root: HTMLElement, points: CostOverTime['points']): uPlot {
  const style = getComputedStyle(root);
  const [ink, line] = [style.getPropertyValue('--muted'), style.getPropertyValue('--line')];
  const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
  const highest = points.at(-1)?.dollars ?? 0;
  return new uPlot(
    {
      ...{ width: root.clientWidth, height: 160, legend: { show: false }, cursor: { show: false } },
      // Half of the last label is beside the axis.
      padding: [null, 40, null, null],
      scales: { y: { range: () => [0, Math.max(highest * 1.1, 0.0001)] } },
      axes: [
        { ...axis, space: 90, size: 50, values: (_chart, values, _axis, _space, step) => timeLabels(values, step) },
        { ...axis, size: 75, values: (_chart, values, _axis, _space, step) => dollarLabels(values, step) },
      ],
      series: [{}, { stroke: style.getPropertyValue('--accent'), width: 2, points: { show: false } }],
    },
    [points.map(({ at }) => Date.parse(at) / 1_000), points.map((each) => each.dollars)],
    root,
  );
}
