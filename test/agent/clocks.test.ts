// The agent and the providers measure intervals by the monotonic clock: the wall clock may be set at any time. The files below
// are the only ones that read it, each for a stated reason.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

const reasons: Record<string, string> = {
  'agent/api-client/retry-after.ts': 'Retry-After may be a date; the pause is bounded',
  'agent/aws/credentials.ts': 'their expiry is a date; their life is then counted by the monotonic clock',
  'agent/gcp/notices.ts': 'the time of the end that the cloud announces is a date',
  'agent/job/interruption.ts': 'the time of the interruption is a date; a timer counts from there',
  'agent/job/run-task.ts': 'the time at which a task started',
  'agent/lifecycle/claim.ts': 'the time of the claim',
  'agent/lifecycle/watchdog-timer.ts': 'compares both clocks to notice sleep',
  'agent/logs/log-shipper.ts': 'the time of a line',
  'agent/logs/log.ts': 'the time of a line',
  'agent/runtimes/environment/build-once.ts': 'the age of a file',
  'agent/runtimes/environment/clean.ts': 'the age of a file',
  'agent/runtimes/environment/in-use.ts': 'the age of a file',
  'providers/aws/logs.ts': 'the time of a line',
  'providers/aws/prices.ts': 'prices are asked for as of a date',
  'providers/gcp/logs.ts': 'the time of a line',
  'providers/local/launch.ts': 'the time of a launch',
  'providers/local/provider.ts': 'the age of a directory',
};

it('only files with a reason read the wall clock', () => {
  const files = ['agent', 'providers'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(folder, name)),
  );
  const reading = files.filter((file) => /\bDate\.now\b/.test(readFileSync(join(root, file), 'utf8')));
  expect(reading.toSorted()).toEqual(Object.keys(reasons).toSorted());
  expect(files).toContain('agent/dask/scheduler/reporter.ts');
});
