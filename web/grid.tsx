// A cell for each task of a job, coloured by its state; with more than 100,000 tasks, each cell stands for several. Uses a
// canvas, because a hundred thousand elements would be too slow. A click on a cell leads to its task in the table, which the
// keyboard reaches by the number of the first task.
import { useEffect, useRef } from 'preact/hooks';

import type { Job, TaskStates } from '../schema/jobs.ts';
import { toneOf } from './task-states.ts';

type Runs = TaskStates['runs'];

export interface GridProps {
  states: TaskStates;
  /** The number of tasks in each state. */
  counts: Job['tasks'];
  onChoose: (index: number) => void;
}

export function Grid({ states: { runs, total, tasksPerCell }, counts, onChoose }: GridProps) {
  const cells = Math.ceil(total / tasksPerCell);
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const draw = (): void => drawCells(canvas.current, runs, cells);
    draw();
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', draw);
    window.addEventListener('resize', draw);
    return () => {
      dark.removeEventListener('change', draw);
      window.removeEventListener('resize', draw);
    };
  }, [runs, cells]);
  const choose = ({ offsetX, offsetY }: MouseEvent): void => {
    const { across, step } = layoutOf(canvas.current?.clientWidth ?? 0, cells);
    const cell = Math.floor(offsetY / step) * across + Math.min(across - 1, Math.floor(offsetX / step));
    if (cell < cells) onChoose(cell * tasksPerCell);
  };
  const { total: _, ...byState } = counts;
  const some = Object.entries(byState).filter(([, count]) => count > 0);
  const label = `Tasks by state: ${some.map(([state, count]) => `${count} ${state}`).join(', ')}`;
  return (
    <>
      <canvas class="grid" ref={canvas} role="img" aria-label={label} onClick={choose} />
      {tasksPerCell > 1 && (
        <p>
          Each cell stands for {tasksPerCell} of {total} tasks: red where one of them failed, else blue where one runs.
        </p>
      )}
    </>
  );
}

/** Cells are smaller when there are more of them; the smallest ones have no gap. */
function layoutOf(width: number, total: number): { size: number; step: number; across: number } {
  const size = Math.max(2, Math.min(14, Math.floor(Math.sqrt((width * 260) / Math.max(total, 1)))));
  const step = size > 2 ? size + 1 : size;
  return { size, step, across: Math.max(1, Math.floor(width / step)) };
}

function drawCells(canvas: HTMLCanvasElement | null, runs: Runs, total: number): void {
  const context = canvas?.getContext('2d') ?? null;
  if (canvas === null || context === null || total === 0) return;
  const width = canvas.clientWidth;
  const { size, step, across } = layoutOf(width, total);
  const height = Math.ceil(total / across) * step;
  const scale = window.devicePixelRatio;
  canvas.width = width * scale;
  canvas.height = height * scale;
  canvas.style.height = `${height}px`;
  context.scale(scale, scale);
  const style = getComputedStyle(canvas);
  let at = 0;
  for (const { state, count } of runs) {
    context.fillStyle = style.getPropertyValue(`--${toneOf(state)}`);
    for (const end = Math.min(at + count, total); at < end; at += 1) {
      context.fillRect((at % across) * step, Math.floor(at / across) * step, size, size);
    }
  }
}
