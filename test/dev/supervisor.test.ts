import { setTimeout as sleep } from 'node:timers/promises';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { endSurvivors } from '../../dev/processes.ts';
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
    const spec = child('broken', "console.error('no such database'); process.exit(3)", async () => true, 900);
    await expect(supervisor.start({ ...spec, isHealthy: async () => false })).rejects.toThrow(
      /broken did not answer within 0\.9 s[\s\S]*no such database/,
    );
    expect(lines.filter((line) => line.startsWith('broken ended')).slice(0, 2)).toEqual([
      'broken ended (exit code 3); starting it again in 0.2 s',
      'broken ended (exit code 3); starting it again in 0.4 s',
    ]);
    await supervisor.stop('broken');
    const count = lines.length;
    await sleep(600);
    expect(lines).toHaveLength(count);
  });

  it('kills a child that ignores SIGTERM, or is stopped, once its grace is over', async () => {
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
  it('are ended by the next one, by record or by mark, and nobody else is', async () => {
    await supervisor.start(child('worker', 'setInterval(() => undefined, 1000)'));
    await eventually(async () => (await childRecords(home)).length === 1);
    const pid = await eventually(() => supervisor.pids()['worker']);
    const other = await makeHome();
    try {
      await openHome(other);
      expect(await endSurvivors(other, `${other}/run`)).toEqual([]);
      expect(await startTimeOf(pid)).not.toBeNull();
    } finally {
      await removeHome(other);
    }
    const ended = endSurvivors(home, runDir);
    expect(await ended).toEqual(['worker']);
    expect(await startTimeOf(pid)).toBeNull();
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
