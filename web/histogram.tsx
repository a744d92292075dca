// Durations of tasks: a bar for each class, and the same as a table for screen readers.
import type { TaskStates } from '../schema/jobs.ts';

export function Histogram({ classes }: { classes: TaskStates['durations'] }) {
  const [first] = classes;
  const last = classes.at(-1);
  if (first === undefined || last === undefined) return null;
  const most = Math.max(...classes.map(({ count }) => count));
  return (
    <figure class="histogram">
      <figcaption>How long tasks took</figcaption>
      <div class="bars" aria-hidden="true">
        {classes.map(({ fromMs, toMs, count }) => (
          <i
            key={fromMs}
            title={`${length(fromMs)} to ${length(toMs)}: ${count}`}
            style={{ height: `${count === 0 ? 0 : Math.max(2, (count / most) * 100)}%` }}
          />
        ))}
      </div>
      <p class="ends" aria-hidden="true">
        <span>{length(first.fromMs)}</span>
        <span>{length(last.toMs)}</span>
      </p>
      <table class="hidden">
        <caption>Tasks by how long they took</caption>
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">Tasks</th>
          </tr>
        </thead>
        <tbody>
          {classes
            .filter(({ count }) => count > 0)
            .map(({ fromMs, toMs, count }) => (
              <tr key={fromMs}>
                <td>
                  {length(fromMs)} to {length(toMs)}
                </td>
                <td>{count}</td>
              </tr>
            ))}
        </tbody>
      </table>
    </figure>
  );
}

function length(ms: number): string {
  if (ms < 1_000) return `${ms} ms`;
  if (ms < 120_000) return `${ms / 1_000} s`;
  return ms < 7_200_000 ? `${round(ms / 60_000)} min` : `${round(ms / 3_600_000)} h`;
}

const round = (value: number): number => Math.round(value * 10) / 10;
