// The start-up script of an instance, run with the machine's programs replaced: what it does when there is no network. And
// the service that it leaves behind, which systemd must understand in full: it ignores what it does not know.
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { expect, it } from 'vitest';

import { renderUserData } from '../../providers/aws/user-data.ts';
import { awsSettings, freshOwner } from './aws-cloud.ts';

it('sets the watchdog before anything that may fail, so that a machine without network powers itself off', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'ropewalk-user-data-'));
  try {
    const script = startupScript();
    // Each says that it was called, and with what; the last one is the network that is not there.
    const said = join(directory, 'said');
    for (const name of ['mkdir', 'systemd-run', 'systemctl', 'curl']) {
      const program = join(directory, name);
      await writeFile(program, `#!/bin/sh\necho ${name} "$@" >> '${said}'\n${name === 'curl' ? 'exit 6' : ''}\n`);
      await chmod(program, 0o755);
    }
    const run = promisify(execFile)('/bin/sh', ['-c', script.replace('cd /opt/ropewalk', `cd '${directory}'`)], {
      env: { PATH: directory },
    });
    await expect(run).rejects.toMatchObject({ code: 6 });
    const calls = (await readFile(said, 'utf8')).trim().split('\n');
    expect(calls[0]).toMatch(/^systemd-run --on-active=30min --on-unit-active=30min .*poweroff$/);
    expect(calls.at(-1)).toMatch(/^curl /);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

// systemd.unit(5), systemd.service(5) and systemd.exec(5): what may stand where.
const knownKeys: Record<string, string[]> = {
  Unit: [
    ...['Description', 'After', 'Wants', 'SuccessAction', 'FailureAction'],
    ...['StartLimitIntervalSec', 'StartLimitBurst', 'StartLimitAction'],
  ],
  Service: ['Environment', 'ExecStart', 'Restart', 'RestartSec', 'KillMode', 'OOMPolicy'],
  Install: ['WantedBy'],
};

it('writes each key of the service into the section where systemd looks for it', () => {
  const sections = sectionsOf(serviceUnit());
  for (const [section, keys] of Object.entries(sections))
    expect(knownKeys[section]).toEqual(expect.arrayContaining(keys));
  expect(sections).toMatchObject({ Unit: expect.arrayContaining(['SuccessAction']), Install: ['WantedBy'] });
});

it('writes a service of which systemd-analyze has nothing to say', async (context) => {
  const directory = await mkdtemp(join(tmpdir(), 'ropewalk-unit-'));
  try {
    const path = join(directory, 'ropewalk-agent.service');
    await writeFile(path, serviceUnit().replace(/^ExecStart=.*$/m, 'ExecStart=/bin/true'));
    const analyzed = await promisify(execFile)('systemd-analyze', ['verify', path]).catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
      throw error;
    });
    if (analyzed === null) return context.skip();
    expect(`${analyzed.stdout}${analyzed.stderr}`).toBe('');
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

it('keeps the agent when the kernel ends a task of its service that takes too much memory', () => {
  expect(serviceUnit()).toMatch(/\[Service\]\n[^[]*^OOMPolicy=continue$/m);
});

it('leaves an agent that cannot start some minutes before it powers the machine off, and no more than the watchdog', () => {
  const unit = serviceUnit();
  const valueOf = (key: string): string => new RegExp(`^${key}=(.*)$`, 'm').exec(unit)?.[1] ?? '';
  const [restartSec, burst] = [Number(valueOf('RestartSec')), Number(valueOf('StartLimitBurst'))];
  expect(valueOf('StartLimitAction')).toBe('poweroff');
  expect(valueOf('StartLimitIntervalSec')).toBe('30min');
  expect(restartSec * burst).toBeGreaterThanOrEqual(5 * 60);
  expect(restartSec * burst).toBeLessThan(15 * 60);
});

function startupScript(): string {
  const boot = { apiUrl: 'https://ropewalk.example', launchToken: 'a launch token', owner: freshOwner() };
  return renderUserData(boot, awsSettings.agent, 'x86_64');
}

const serviceUnit = (): string => /<<'UNIT'\n([\s\S]*?)\nUNIT\n/.exec(startupScript())?.[1] ?? '';

/** The keys of each section. */
function sectionsOf(unit: string): Record<string, string[]> {
  const sections: Record<string, string[]> = {};
  let keys: string[] = [];
  for (const line of unit.split('\n').filter((each) => each !== '' && !each.startsWith('#'))) {
    const section = /^\[(\w+)\]$/.exec(line)?.[1];
    if (section === undefined) keys.push(line.slice(0, line.indexOf('=')));
    else keys = sections[section] = [];
  }
  return sections;
}
