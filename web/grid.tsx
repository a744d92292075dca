// A cell for each task of a job, coloured by its state. On a canvas: a hundred thousand elements would be too slow.
import { useEffect, useRef } from 'preact/hooks';

import type { Task } from '../schema/jobs.ts';

const gap = 1;

export function Grid({ tasks, total }: { tasks: readonly Task[]; total: number }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const draw = (): void => drawCells(canvas.current, tasks);
    draw();
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', draw);
    window.addEventListener('resize', draw);
    return () => {
      dark.removeEventListener('change', draw);
      window.removeEventListener('resize', draw);
    };
  }, [tasks]);
  const counts = new Map<string, number>();
  for (const { state } of tasks) counts.set(state, (counts.get(state) ?? 0) + 1);
  const label = `Tasks by state: ${[...counts].map(([state, count]) => `${count} ${state}`).join(', ')}`;
  return (
    <>
      <canvas class="grid" ref={canvas} role="img" aria-label={label} />
      {tasks.length < total && (
        <p>
          The first {tasks.length} of {total} tasks.
        </p>
      )}
    </>
  );
}

function drawCells(canvas: HTMLCanvasElement | null, tasks: readonly Task[]): void {
  const context = canvas?.getContext('2d') ?? null;
  if (canvas === null || context === null || tasks.length === 0) return;
  const width = canvas.clientWidth;
  const size = Math.max(3, Math.min(14, Math.floor(Math.sqrt((width * 260) / tasks.length))));
  const across = Math.max(1, Math.floor(width / (size + gap)));
  const height = Math.ceil(tasks.length / across) * (size + gap);
  const scale = window.devicePixelRatio;
  canvas.width = width * scale;
  canvas.height = height * scale;
  canvas.style.height = `${height}px`;
  context.scale(scale, scale);
  const style = getComputedStyle(canvas);
  for (const [at, { state }] of tasks.entries()) {
    context.fillStyle = style.getPropertyValue(`--${toneOf(state)}`);
    context.fillRect((at % across) * (size + gap), Math.floor(at / across) * (size + gap), size, size);
  }
}

function toneOf(state: Task['state']): string {
  if (state === 'done') return 'good';
  if (state === 'error' || state === 'unknown') return 'bad';
  return state === 'running' || state === 'assigned' ? 'busy' : 'idle';
}
