// Whether GPUs are used, by readings of their utilization.
import { describe, expect, it } from 'vitest';

import { gpuReport, noteReading, parseUtilization, type GpuUse } from '../../domain/gpu-use.ts';

const after = (...readings: (number | null)[][]): GpuUse =>
  readings.reduce<GpuUse | null>((use, percents, minute) => noteReading(use, percents, minute * 60_000), null) ?? {
    idleSinceMs: [],
  };

describe('the use of GPUs', () => {
  it('is read from what nvidia-smi prints', () => {
    expect(parseUtilization('0\n 37 \n[N/A]\n100\n')).toEqual([0, 37, null, 100]);
    expect(parseUtilization('\n')).toEqual([]);
    expect(parseUtilization('No devices were found')).toEqual([null]);
  });

  it('is none once every reading of the time said so', () => {
    const idle = after([0], [1], [0]);
    expect(gpuReport(idle, 120_000, 119_999)).toEqual({ total: 1, idle: 0, idleForMs: 0 });
    expect(gpuReport(idle, 120_000, 120_000)).toEqual({ total: 1, idle: 1, idleForMs: 120_000 });
    // One reading of work restarts the time.
    expect(gpuReport(after([0], [2], [0]), 120_000, 239_000)).toMatchObject({ idle: 0 });
    expect(gpuReport(after([0], [2], [0]), 120_000, 240_000)).toMatchObject({ idle: 1, idleForMs: 120_000 });
  });

  it('is of each GPU, and what cannot be known counts as work', () => {
    const use = after([0, 90, null, 0], [0, 90, 0, 5], [0, 90, null, 0]);
    expect(use.idleSinceMs).toEqual([0, null, null, 120_000]);
    expect(gpuReport(use, 60_000, 180_000)).toEqual({ total: 4, idle: 2, idleForMs: 180_000 });
  });

  it('of a machine whose number of GPUs changes begins anew for the new ones', () => {
    expect(after([0], [0, 0]).idleSinceMs).toEqual([0, 60_000]);
    expect(after([0, 0], [0]).idleSinceMs).toEqual([0]);
  });
});
