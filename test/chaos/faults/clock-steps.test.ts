// The wall clock of API, Temporal worker or agents is set back and forward by an hour, and set right again, while a job runs.
// Each process keeps working, and every view of the job is current. Needs libfaketime (apt package faketime).
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { buildBundles } from '../../../dev/build.ts';
import { eventually } from '../../support/eventually.ts';
import { startStack } from '../../support/stack.ts';
import type { TestStack } from '../../support/stack.ts';
import { agentWithClock, canSetClocks, createClock, type Clock } from './clocks.ts';
import { startJob } from './job.ts';

if (!canSetClocks) console.log('skipped: this machine has no libfaketime (apt install faketime), which sets clocks');

const hour = 3_600;

describe.skipIf(!canSetClocks)('a wall clock that is set back and forward by an hour', () => {
  let directory: string;
  let clocks: Record<'api' | 'worker' | 'agents', Clock>;
  let stack: TestStack;
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'ropewalk-faults-clocks-'));
    const named = (name: string): Clock => createClock(directory, name);
    clocks = { api: named('api'), worker: named('worker'), agents: named('agents') };
    const bundle = agentWithClock(directory, { bundle: (await buildBundles()).agent, clock: clocks.agents });
    stack = await startStack({
      overrides: {
        api: { env: clocks.api.env },
        worker: { env: { ...clocks.worker.env, ROPEWALK_AGENT_BUNDLE: bundle } },
      },
    });
  });
  afterAll(async () => {
    try {
      await stack.stop();
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });

  it('costs no agent and no task', async () => {
    const job = await startJob(stack, { ntasks: 250, maxWorkers: 2, lease: 2 });
    try {
      await job.progress(5);
      const agents = await job.agents(2);
      for (const [name, clock] of Object.entries(clocks)) {
        for (const offset of [-hour, 0, hour, 0]) {
          const before = (await job.view()).tasks.done;
          clock.set(offset);
          await job.progress(4);
          await eventually(async () => (await job.view()).tasks.done >= before + 4);
          expect(await job.agents(2), `${name} at ${offset} s`).toEqual(agents);
        }
      }
      const { status, counters } = await job.end();
      expect(job.lies()).toEqual([]);
      expect(status).toBe('done');
      expect(counters).toMatchObject({ retried: 0, lost: 0 });
    } finally {
      job.remove();
    }
  });
});
