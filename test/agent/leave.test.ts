// The exchange of an interrupted instance, against a stand-in for its session.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { exchangeLoop } from '../../agent/job/exchange-loop.ts';
import { createLeave } from '../../agent/job/interruption.ts';
import { createLog } from '../../agent/logs/log.ts';
import type { Session } from '../../agent/api-client/session.ts';
import { createResults } from '../../agent/job/results.ts';

describe('a notice that comes before the first exchange', () => {
  it('leaves every task to others, and the instance has nothing left to do', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'ropewalk-leave-'));
    const said: string[] = [];
    const stopping = new AbortController();
    const session: Session = {
      register: () => Promise.resolve(null),
      registered: () => {
        throw new Error('not a part of this test');
      },
      call: async ({ path }) => {
        said.push(path);
        // An agent that claims work in spite of the notice would never end.
        stopping.abort();
        return null;
      },
      renew: () => undefined,
      token: () => '',
      order: () => ({ code: '', text: '', failed: false }),
    };
    const leave = createLeave();
    leave.begin({ kind: 'terminate', at: new Date(Date.now() + 120_000).toISOString() });
    await exchangeLoop({
      session,
      start: () => {
        throw new Error('no task may begin');
      },
      results: createResults(directory),
      log: createLog(join(directory, 'agent.jsonl')),
      stopping,
      isHead: true,
      leave,
    }).finally(() => rm(directory, { recursive: true, force: true }));
    expect(said).toEqual([]);
    expect(stopping.signal.aborted).toBe(false);
  });
});
