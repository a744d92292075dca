// An orderly end and a new start: nothing keeps running in between, and open jobs continue by themselves.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { createClient } from '../../sdk/client.ts';
import { eventually } from '../support/eventually.ts';
import { processesOfHome } from '../support/home-processes.ts';
import { agentPids } from '../support/kills.ts';
import { makeHome, removeHome, startStack } from '../support/stack.ts';
import type { TestStack } from '../support/stack.ts';

describe('Ctrl-C and a new start', () => {
  const out = mkdtempSync(join(tmpdir(), 'ropewalk-restart-'));
  let home: string;
  let stack: TestStack | null = null;
  beforeAll(async () => {
    home = await makeHome();
  });
  afterEach(async () => {
    await stack?.stop();
  });
  afterAll(async () => {
    rmSync(out, { recursive: true, force: true });
    await removeHome(home);
  });

  it('ends every process, and the next start finishes the job without waiting for its leases', async () => {
    stack = await startStack({ home });
    const { number } = await createClient({ apiUrl: stack.apiUrl, token: stack.token }).jobs.create({
      // Only the first attempt is slow: later attempts run on agents of the second stack.
      command: [
        'bash',
        '-c',
        'echo "$ROPEWALK_TASK_ATTEMPT" >> "$OUT/$ROPEWALK_BATCH_TASK_ID"; [ "$ROPEWALK_TASK_ATTEMPT" = 1 ] && sleep 600; true',
      ],
      env: { OUT: out },
      ntasks: 2,
      lease: '1 hour',
    });
    await eventually(() => ['0', '1'].every((task) => readFileSync(join(out, task), 'utf8') === '1\n'));
    expect(agentPids(home).size).toBe(2);
    expect(await stack.signal('SIGINT')).toBe(0);
    expect(await processesOfHome(home)).toEqual([]);
    expect(stack.output()).toContain('1 open job kept in Temporal');

    stack = await startStack({ home });
    const client = createClient({ apiUrl: stack.apiUrl, token: stack.token });
    const job = await eventually(async () => {
      const now = await client.jobs.get(number);
      return now.status === 'done' ? now : null;
    });
    expect(job.counters).toMatchObject({ lost: 2 });
    // These losses do not count against the tasks: test/domain/job/losses.test.ts.
    const { events } = await client.clusters.get(number);
    expect(events.filter(({ text }) => text.includes('it was terminated by request'))).toHaveLength(2);
    expect(['0', '1'].map((task) => readFileSync(join(out, task), 'utf8'))).toEqual(['1\n2\n', '1\n2\n']);
  });
});
