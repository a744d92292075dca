// Machines of EC2 from their user data to their end, under systemd: only nodejs.org is replaced in the start-up script.
import { join } from 'node:path';

import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';

import { canBootMachines, inOwnNetwork, prepareMachines } from '../support/booted-machines.ts';

const run = z.object({ why: z.string(), console: z.string(), log: z.array(z.string()) });
const answer = z.object({ done: run, killed: run, terminated: run });

describe.runIf(canBootMachines)('a machine that boots from its user data', () => {
  let machine: z.infer<typeof answer>;
  beforeAll(async () => {
    await prepareMachines();
    machine = answer.parse(JSON.parse(await inOwnNetwork([join(import.meta.dirname, 'ec2-boot-machine.ts')])));
  }, 600_000);

  it('verifies what it downloads, and has the watchdog and the agent’s service', () => {
    const { console, log } = machine.done;
    expect(console).toContain('Running timer as unit: ropewalk-watchdog.timer');
    expect(console).toContain('node.tar.xz: OK\nagent.mjs: OK\n');
    const timer = ['ActiveState=active', expect.stringContaining('OnUnitActiveUSec=30min')];
    expect(log).toEqual(expect.arrayContaining([...timer, `node ${process.version}`, 'enabled']));
  });

  it('runs tasks as a user of their own, who reads nothing of the agent, and powers itself off when its job has ended', () => {
    const { why, log } = machine.done;
    expect(log.slice(-4)).toEqual([
      ...['ropewalk', '/home/ropewalk', "ls: cannot open directory '/opt/ropewalk': Permission denied"],
      'The agent ends: Job 7 has ended. (JOB_OVER)',
    ]);
    expect(why).toBe('its first process ended');
  });

  it('powers itself off when its agent was killed: systemd starts another one, which finds the claim', () => {
    expect(machine.killed.why).toBe('its first process ended');
  });

  it('ends its agent in order when EC2 shuts it down, so that its last lines are in CloudWatch', () => {
    expect(machine.terminated.log.at(-1)).toBe('The agent ends: The agent was asked to end by SIGTERM. (SIGTERM)');
  });
});
