// A cell for each task of a job, coloured by its state. On a canvas: a hundred thousand elements would be too slow. A click on a cell
// leads to its task in the table, which the keyboard reaches by the number of the first task.
import { useEffect, useRef } from 'preact/hooks';

import type { TaskStates } from '../schema/jobs.ts';
import { counted, toneOf } from './task-states.ts';

type Runs = TaskStates['runs'];

/** More cells than this are more than a page has pixels for. */
const maxCells = 100_000;

export function Grid({ runs, total, onChoose }: { runs: Runs; total: number; onChoose: (index: number) => void }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const draw = (): void => drawCells(canvas.current, runs, Math.min(total, maxCells));
    draw();
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', draw);
    window.addEventListener('resize', draw);
    return () => {
      dark.removeEventListener('change', draw);
      window.removeEventListener('resize', draw);
    };
  }, [runs, total]);
  const choose = ({ offsetX, offsetY }: MouseEvent): void => {
    const { across, step } = layoutOf(canvas.current?.clientWidth ?? 0, Math.min(total, maxCells));
    const index = Math.floor(offsetY / step) * across + Math.min(across - 1, Math.floor(offsetX / step));
    if (index < total) onChoose(index);
  };
  const label = `Tasks by state: ${[...counted(runs)].map(([state, count]) => `${count} ${state}`).join(', ')}`;
  return (
    <>
      <canvas class="grid" ref={canvas} role="img" aria-label={label} onClick={choose} />
      {total > maxCells && (
        <p>
          The first {maxCells} of {total} tasks.
        </p>
      )}
    </>
  );
}

/** Cells get smaller as there are more of them; the smallest ones have no gap. */
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
