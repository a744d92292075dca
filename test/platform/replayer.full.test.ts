// The replay of a history in a process of its own: its answers, its limits, and that no process or file remains.
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import proto from '@temporalio/proto';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { writeFile } from 'node:fs/promises';

import { createReplayer } from '../../platform/replayer.ts';
import { childrenOf } from '../support/children.ts';
import { eventually } from '../support/eventually.ts';

const pathOf = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const history = proto.temporal.api.history.v1.History.decode(readFileSync(pathOf('test/activities/stuck.bin')));
let directory = '';
let codePath = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'ropewalk-replayer-'));
  codePath = join(directory, 'workflows.js');
  const { code } = await bundleWorkflowCode({
    workflowsPath: pathOf('workflows/index.ts'),
    workflowInterceptorModules: [pathOf('workflows/updates-last.ts')],
    logger: new DefaultLogger('ERROR'),
  });
  await writeFile(codePath, code);
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const code = () => ({ workflowBundle: { codePath } });

it('says that today’s code cannot follow an older history, again and again in one process, which ends when it is idle', async () => {
  const violation = createReplayer(code(), { idleMs: 2_000 });
  const answers = [violation(history, 'job/18'), violation(history, 'job/18')];
  await eventually(async () => (await childrenOf(process.pid, 'replay-process')).length === 1);
  const [pid] = await childrenOf(process.pid, 'replay-process');
  expect(await Promise.all(answers)).toEqual([expect.stringMatching(/TMPRL1100/), expect.stringMatching(/TMPRL1100/)]);
  expect(await childrenOf(process.pid, 'replay-process')).toEqual([pid]);
  await eventually(async () => (await childrenOf(process.pid, 'replay-process')).length === 0);
});

it('is given up when it takes too long or too much memory, and the next one runs in a new process', async () => {
  const slow = createReplayer(code(), { timeoutMs: 1 });
  await expect(slow(history, 'job/18')).rejects.toThrow('The replay of job/18 took longer than 0.001 s.');
  const small = createReplayer(code(), { heapMb: 8 });
  await expect(small(history, 'job/18')).rejects.toThrow(/The replay of job\/18 ended with/);
  await eventually(async () => (await childrenOf(process.pid, 'replay-process')).length === 0);
});
