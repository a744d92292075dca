// A twin of the workflow code with one changed step does not replay the recorded history, and fails at that step: the tests of
// replay.test.ts can fail.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, describe, expect, it } from 'vitest';

import { bundle, names, read, replay, repo } from './replay-history.ts';
import { twins } from './twins.ts';

describe('a twin with one changed step', () => {
  // Below the repository, where packages are found, but not in node_modules, whose files the bundler takes unchanged.
  const cache = join(repo, 'dist');
  mkdirSync(cache, { recursive: true });
  const root = mkdtempSync(join(cache, 'twins-'));
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  it.each(twins)('$name is caught', async ({ name, history, file, from, to, says }) => {
    expect(names).toContain(history);
    const tree = join(root, name.replaceAll(/[^a-z0-9]+/gi, '-'));
    for (const folder of ['contracts', 'domain', 'views', 'workflows'])
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

/** A violation names at least the event's number: this is the activity that it scheduled, and the last signal before. */
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
