import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { endSurvivors } from '../../ops/processes.ts';
import { type ChildSpec, createSupervisor, type Supervisor } from '../../dev/supervisor.ts';
import { startTimeOf } from '../../providers/local/processes.ts';
import { eventually } from '../support/eventually.ts';
import { childRecords } from '../support/home-processes.ts';
import { makeHome, node24, removeHome } from '../support/stack.ts';
import { openHome } from '../../dev/home.ts';

let home = '';
let runDir = '';
let lines: string[] = [];
let supervisor: Supervisor;
beforeEach(async () => {
  home = await makeHome();
  ({ runDir } = await openHome(home));
  lines = [];
  supervisor = createSupervisor({ runDir, say: (line) => lines.push(line), onSpawn: () => undefined });
});
afterEach(async () => {
  supervisor.killAll();
  await removeHome(home);
});

describe('the supervisor', () => {
  it('prefixes what a child prints, and starts it again when it dies', async () => {
    await supervisor.start(child('talker', "console.log('hello'); setInterval(() => undefined, 1000)"));
    const first = await eventually(() => supervisor.pids()['talker']);
    await eventually(() => lines.includes('talker | hello'));
    process.kill(first, 'SIGKILL');
    const second = await eventually(() => {
      const pid = supervisor.pids()['talker'];
      return pid === first ? undefined : pid;
    });
    expect(lines).toContain('talker ended (signal SIGKILL); starting it again in 0.2 s');
    await supervisor.stop('talker');
    expect(await startTimeOf(second)).toBeNull();
    expect(await childRecords(home)).toEqual([]);
  });

  it('waits longer each time for a child that dies at once, and gives its last lines when it never answers', async () => {
    const spec = child('broken', "console.error('no such database'); process.exit(3)", async () => true, 2_500);
    await expect(supervisor.start({ ...spec, isHealthy: async () => false })).rejects.toThrow(
      /broken did not answer within 2\.5 s[\s\S]*no such database/,
    );
    expect(lines.filter((line) => line.startsWith('broken ended')).slice(0, 2)).toEqual([
      'broken ended (exit code 3); starting it again in 0.2 s',
      'broken ended (exit code 3); starting it again in 0.4 s',
    ]);
    await supervisor.stop('broken');
    // Only a wait longer than the next backoff shows that nothing happens.
    const count = lines.length;
    await sleep(1_700);
    expect(lines).toHaveLength(count);
  });

  it('kills a child that ignores SIGTERM, or is stopped, once its grace period has ended', async () => {
    const ignores = "process.on('SIGTERM', () => undefined); console.log('up'); setInterval(() => undefined, 1000)";
    await supervisor.start({ ...child('deaf', ignores), stopWithinMs: 200 });
    await eventually(() => lines.includes('deaf | up'));
    const pid = await eventually(() => supervisor.pids()['deaf']);
    process.kill(pid, 'SIGSTOP');
    await supervisor.stop('deaf');
    expect(await startTimeOf(pid)).toBeNull();
  });
});

describe('survivors of a killed stack', () => {
  it.each(['by its record', 'by its mark'])(
    'are found %s and ended by the next one, which ends no other process',
    async (how) => {
      await supervisor.start(child('worker', 'setInterval(() => undefined, 1000)'));
      await eventually(async () => (await childRecords(home)).length === 1);
      const pid = await eventually(() => supervisor.pids()['worker']);
      if (how === 'by its mark') await rm(join(runDir, 'worker.json'));
      const other = await makeHome();
      try {
        expect(await endSurvivors(other, (await openHome(other)).runDir)).toEqual([]);
        expect(await startTimeOf(pid)).not.toBeNull();
      } finally {
        await removeHome(other);
      }
      expect(await endSurvivors(home, runDir)).toEqual(['worker']);
      expect(await startTimeOf(pid)).toBeNull();
    },
  );

  it('are not mistaken for a process that has got their pid', async () => {
    const stranger = { name: 'worker', pid: process.pid, startTime: 'long ago' };
    await writeFile(join(runDir, 'worker.json'), JSON.stringify(stranger));
    expect(await endSurvivors(home, runDir)).toEqual([]);
    expect(await readdir(runDir)).toEqual([]);
  });
});

function child(name: string, program: string, isHealthy?: () => Promise<boolean>, healthyWithinMs = 10_000): ChildSpec {
  return {
    name,
    command: node24,
    args: ['-e', program],
    env: { ROPEWALK_HOME: home },
    ...(isHealthy === undefined ? {} : { isHealthy }),
    healthyWithinMs,
    stopWithinMs: 5_000,
  };
}
