// An agent monitors the requested GPUs. No machine of these tests has one: a program named nvidia-smi on the PATH prints the
// output of NVIDIA's, for the agent's query.
import { chmod, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, it } from 'vitest';

import { watchGpus } from '../../agent/gpus/watch.ts';
import type { GpuReport } from '../../domain/gpu-use.ts';
import { eventually } from '../support/eventually.ts';

let directory: string;
let over: AbortController;
let ended: Promise<void>;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'ropewalk-gpus-'));
  over = new AbortController();
});
afterEach(async () => {
  over.abort();
  await ended;
  await rm(directory, { recursive: true, force: true });
});

/** Sets its next output, for the one query that it answers. */
async function prints(lines: string): Promise<void> {
  const query = '--query-gpu=utilization.gpu --format=csv,noheader,nounits';
  const script = `#!/bin/sh\n[ "$*" = "${query}" ] || exit 2\nprintf '${lines}'\n`;
  await writeFile(join(directory, 'next'), script);
  await chmod(join(directory, 'next'), 0o755);
  await rename(join(directory, 'next'), join(directory, 'nvidia-smi'));
}

function watch(): { reports: GpuReport[]; lines: string[] } {
  const [reports, lines]: [GpuReport[], string[]] = [[], []];
  ended = watchGpus({
    ...{ idleAfterMs: 400, environment: { PATH: `${directory}:/usr/bin:/bin` }, signal: over.signal },
    log: { write: (line: string) => void lines.push(line) },
    notify: (make) => void reports.push(make()),
  });
  return { reports, lines };
}

it('reports what there is, what has done nothing for long, and that it works again', async () => {
  await prints('97\\n0\\n');
  const { reports } = watch();
  await eventually(() => reports.length === 2);
  expect(reports).toEqual([
    { total: 2, idle: 0, idleForMs: 0 },
    { total: 2, idle: 1, idleForMs: expect.any(Number) },
  ]);
  expect(reports[1]?.idleForMs).toBeGreaterThanOrEqual(400);
  await prints('97\\n12\\n');
  await eventually(() => reports.length === 3);
  expect(reports[2]).toEqual({ total: 2, idle: 0, idleForMs: 0 });
});

it('says once that it cannot know, and reports nothing', async () => {
  const { reports, lines } = watch();
  await eventually(() => lines.length > 0);
  expect(lines[0]).toContain('The use of the GPUs is unknown');
  await prints('55\\n');
  await eventually(() => reports.length === 1);
  expect([reports, lines.length]).toEqual([[{ total: 1, idle: 0, idleForMs: 0 }], 1]);
});
