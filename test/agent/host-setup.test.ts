// The host setup script without an agent around it: the agent's own test would have to wait half an hour for these cases.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { runHostSetup } from '../../agent/lifecycle/host-setup.ts';
import { createLogs } from '../../agent/logs/logs.ts';

it('a host setup script that hangs is ended after its time, with the reason', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'ropewalk-host-setup-'));
  try {
    const logs = createLogs(directory);
    const running = runHostSetup({
      ...{ instance: 'i_1', directory, logs, log: logs.agent(), stopping: new AbortController() },
      ...{
        script: 'echo waiting\nsleep 3600 & wait\n',
        variables: { PATH: process.env['PATH'] ?? '' },
        timeoutMs: 300,
      },
    });
    await expect(running).rejects.toThrow(
      /^The host setup script had not ended and was stopped after .* Its last lines: waiting$/,
    );
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
