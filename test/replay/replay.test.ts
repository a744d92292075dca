// Histories recorded from a real server replay with today's code; a twin of the code with one changed step does not, and
// fails at that step. The second half proves that the first can fail.
import { cpSync, existsSync, mkdtempSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import proto from '@temporalio/proto';
import { DefaultLogger, Runtime, Worker, bundleWorkflowCode } from '@temporalio/worker';
import type { WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { twins } from './twins.ts';

const repo = join(import.meta.dirname, '../..');
const histories = join(import.meta.dirname, 'histories');
const names = readdirSync(histories)
  .filter((name) => name.endsWith('.bin'))
  .toSorted();
const quiet = {
  log: () => undefined,
  trace: () => undefined,
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

// A violation is told by the error that is thrown; the worker's own words about it would only hide the results.
Runtime.install({
  logger: new DefaultLogger('ERROR', () => undefined),
  telemetryOptions: { logging: { filter: { core: 'ERROR', other: 'ERROR' } } },
});

describe('replay', () => {
  let today: WorkflowBundleWithSourceMap;
  beforeAll(async () => {
    today = await bundle(repo);
  });

  it.each(['cluster', 'job', 'sweep', 'stuckWorkflows', 'reconcile'])(
    'has a recorded history of workflow type %s',
    (type) => {
      expect(names.some((name) => typeOf(read(name)) === type)).toBe(true);
    },
  );

  it.each(names)("%s replays with today's code", async (name) => {
    await expect(replay(today, name)).resolves.toBeUndefined();
  });
});

describe('a twin with one changed step', () => {
  // Below the repository, so that packages are found, but not in node_modules, whose files the bundler takes as they are.
  const cache = join(repo, 'dist');
  mkdirSync(cache, { recursive: true });
  const root = mkdtempSync(join(cache, 'twins-'));
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  it.each(twins)('$name is caught', async ({ name, history, file, from, to, says }) => {
    expect(existsSync(join(histories, history))).toBe(true);
    const tree = join(root, name.replaceAll(/[^a-z0-9]+/gi, '-'));
    for (const folder of ['contracts', 'domain', 'workflows'])
      cpSync(join(repo, folder), join(tree, folder), { recursive: true });
    const source = readFileSync(join(tree, file), 'utf8');
    expect(source.split(from).length, `${file} has the step exactly once`).toBe(2);
    writeFileSync(join(tree, file), source.replace(from, to));
    const failure = await replay(await bundle(tree), history).then(
      () => 'it replayed',
      (error: unknown) => (error instanceof Error ? `${error.name}: ${error.message}` : String(error)),
    );
    expect(failure).toContain('DeterminismViolationError');
    expect(`${failure} ${stepNamedBy(failure, history)}`).toMatch(says);
  });
});

async function bundle(root: string): Promise<WorkflowBundleWithSourceMap> {
  return bundleWorkflowCode({
    workflowsPath: join(root, 'workflows/index.ts'),
    workflowInterceptorModules: [join(root, 'workflows/updates-last.ts')],
    logger: quiet,
  });
}

async function replay(workflowBundle: WorkflowBundleWithSourceMap, name: string): Promise<void> {
  const history = read(name);
  const workflowId = `replay/${name}`;
  await Worker.runReplayHistory({ workflowBundle }, history, workflowId);
}

function read(name: string): proto.temporal.api.history.v1.History {
  return proto.temporal.api.history.v1.History.decode(readFileSync(join(histories, name)));
}

/** A violation names the event by its number at least: this is the activity that it scheduled, and the last signal before. */
function stepNamedBy(failure: string, name: string): string {
  const id = Number(/HistoryEvent\(id: (\d+)/.exec(failure)?.[1] ?? 0);
  const { events } = read(name);
  const event = events.find((each) => Number(each.eventId) === id);
  const signals = events.flatMap((each) =>
    Number(each.eventId) < id ? [each.workflowExecutionSignaledEventAttributes?.signalName ?? ''] : [],
  );
  const activity = event?.activityTaskScheduledEventAttributes?.activityType?.name ?? '';
  return `${activity} after ${signals.findLast((signal) => signal !== '') ?? 'no signal'}`;
}

function typeOf(history: proto.temporal.api.history.v1.History): string | undefined {
  return history.events[0]?.workflowExecutionStartedEventAttributes?.workflowType?.name ?? undefined;
}
