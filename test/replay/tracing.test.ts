// Tracing may be turned on and off while workflows are open: histories recorded without it replay with its interceptors.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import proto from '@temporalio/proto';
import { bundleWorkflowCode, DefaultLogger, Runtime, Worker, type WorkflowBundle } from '@temporalio/worker';
import { beforeAll, describe, expect, it } from 'vitest';

import { histories } from './history-files.ts';

Runtime.install({
  logger: new DefaultLogger('ERROR', () => undefined),
  telemetryOptions: { logging: { filter: { core: 'ERROR', other: 'ERROR' } } },
});

const pathOf = (file: string): string => join(import.meta.dirname, '../..', file);
const names = readdirSync(histories).filter((name) => name.endsWith('.bin'));

describe('with tracing on', () => {
  const interceptors = { workflowModules: ['workflows/updates-last.ts', 'workflows/tracing.ts'].map(pathOf) };
  let traced: WorkflowBundle;
  beforeAll(async () => {
    traced = await bundleWorkflowCode({
      workflowsPath: pathOf('workflows/index.ts'),
      workflowInterceptorModules: interceptors.workflowModules,
      logger: new DefaultLogger('ERROR', () => undefined),
    });
  });

  it('is what the bundle has', () => {
    expect(traced.code).toContain('_tracer-data');
  });

  it.each(names)('%s replays', async (name) => {
    const history = proto.temporal.api.history.v1.History.decode(readFileSync(join(histories, name)));
    await expect(Worker.runReplayHistory({ workflowBundle: traced, interceptors }, history)).resolves.toBeUndefined();
  });
});
