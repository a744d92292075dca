// The start-up script of an instance, run with the machine's programs replaced: what it does when there is no network.
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
    const boot = { apiUrl: 'https://ropewalk.example', launchToken: 'a launch token', owner: freshOwner() };
    const script = renderUserData(boot, awsSettings.agent, 'x86_64');
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
    expect(calls[0]).toMatch(/^systemd-run --on-active=30min .*poweroff$/);
    expect(calls.at(-1)).toMatch(/^curl /);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
