// A chart on a canvas with the current colours and width: redrawn when these or its values change.
import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';
import type uPlot from 'uplot';

export function useChart<T>(
  place: RefObject<HTMLDivElement>,
  values: readonly T[],
  draw: (root: HTMLElement, values: T[]) => uPlot,
): void {
  useEffect(() => {
    const root = place.current;
    if (root === null || values.length === 0) return;
    let chart = draw(root, [...values]);
    const drawAgain = (): void => {
      chart.destroy();
      chart = draw(root, [...values]);
    };
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', drawAgain);
    window.addEventListener('resize', drawAgain);
    return () => {
      dark.removeEventListener('change', drawAgain);
      window.removeEventListener('resize', drawAgain);
      chart.destroy();
    };
  }, [values]);
}
