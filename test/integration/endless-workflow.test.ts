// A workflow that never yields must not block the thread that runs all workflows of a Temporal worker.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { expect, it } from 'vitest';

import { askForTemporal } from '../support/shared-client.ts';
import { node24 } from '../support/stack.ts';

it('has its workflow task failed after 5 s, and other workflows go on', async () => {
  const { address, namespace } = await askForTemporal({ dynamicConfig: {} });
  // In a process that can be killed: without its watchdog, the workflow would never return control to this one.
  const script = fileURLToPath(new URL('../platform/workflow-vm-endless.ts', import.meta.url));
  const module = new URL('../../platform/workflow-vm.ts', import.meta.url).href;
  const { stdout } = await promisify(execFile)(node24, ['--import', module, script, address, namespace], {
    timeout: 90_000,
    killSignal: 'SIGKILL',
  });
  expect(stdout.trim().split('\n')).toEqual([expect.stringContaining('timed out after 5000ms'), 'done']);
});
