// An agent that fails writes the reason to its own log, where users and CloudWatch read it, and exits with 1; a hanging flush does not delay it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, it } from 'vitest';

import { sayLastWords } from '../../agent/lifecycle/failure.ts';
import { workerName } from '../../agent/dask/worker-name.ts';
import { eventually } from '../support/eventually.ts';

let directory = '';
beforeEach(async () => void (directory = await mkdtemp(join(tmpdir(), 'ropewalk-last-words-'))));
afterEach(() => rm(directory, { recursive: true, force: true }));

const faults = { 'an exception': 'throw new Error("boom")', 'a rejection': 'void Promise.reject(new Error("boom"))' };
for (const [kind, fault] of Object.entries(faults)) {
  it(`${kind} that no code caught is in agent.jsonl, and the agent ends with 1`, async () => {
    const owner = { deploymentId: 'd', workspace: 'w', cluster: 1 };
    // The discard port of this machine is closed: the agent retries.
    const boot = { apiUrl: 'http://127.0.0.1:9', launchToken: 't', address: '127.0.0.1', cacheDir: directory, owner };
    await writeFile(join(directory, 'boot.json'), JSON.stringify(boot));
    const preload = `data:text/javascript,process.on('SIGUSR2', () => { ${fault} })`;
    const agent = spawn(process.execPath, ['--import', preload, 'agent/main.ts'], {
      env: {
        ...process.env,
        ...{ ROPEWALK_INSTANCE: 'i_test0000', ROPEWALK_INSTANCE_DIR: directory, ROPEWALK_LOG_DIR: directory },
      },
      stdio: 'ignore',
    });
    try {
      const log = () => readFile(join(directory, 'agent.jsonl'), 'utf8');
      await eventually(async () => (await log()).includes('retrying'));
      const ended = once(agent, 'exit');
      agent.kill('SIGUSR2');
      expect(await ended).toEqual([1, null]);
      expect(await log()).toMatch(/"s":"agent","x":"The agent broke down: Error: boom/);
    } finally {
      agent.kill('SIGKILL');
    }
  });
}

it('a flush that never ends, or fails, holds no agent, and comes after the line is written', async () => {
  for (const flush of [() => new Promise<void>(() => {}), () => Promise.reject(new Error('refused'))]) {
    const steps: string[] = [];
    const log = { write: (text: string) => void steps.push(text), close: async () => void steps.push('closed') };
    const flushed = () => (steps.push('flushed'), flush());
    await sayLastWords('boom', { log, flush: flushed, deadlineMs: 50 });
    expect(steps).toEqual(['The agent broke down: boom', 'closed', 'flushed']);
  }
});

it('workers of EC2 are named by all digits of their instances', () => {
  expect(workerName('c', 'i-0aaaaaaaa12345678')).toBe('c-worker-0aaaaaaaa12345678');
  expect(workerName('c', 'i_0123456789abcdef')).toBe('c-worker-89abcdef');
});
