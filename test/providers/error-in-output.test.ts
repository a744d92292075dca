// The summary of the output of an agent that ended at once.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { expect, it } from 'vitest';

import { errorIn } from '../../providers/local/error-in-output.ts';

it("is the error's message, not its stack", async () => {
  const script =
    "function deep(n) { if (n === 0) throw new TypeError('no such file: /etc/agent'); deep(n - 1); } deep(20);";
  const error: unknown = await promisify(execFile)(process.execPath, ['-e', script]).catch((failed: unknown) => failed);
  const output = error instanceof Error && 'stderr' in error ? String(error.stderr) : '';
  expect(output).toContain('\n    at deep');
  expect(errorIn(output)).toBe('TypeError: no such file: /etc/agent');
});

it('is the last whole lines of an output without an error', () => {
  expect(errorIn('')).toBe('');
  expect(errorIn('  broken on purpose\n')).toBe('broken on purpose');
  const lines = Array.from({ length: 100 }, (_, nth) => `line ${nth} of this output`);
  const found = errorIn(lines.join('\n'));
  expect(found.length).toBeLessThanOrEqual(500);
  expect(found.endsWith('line 99 of this output')).toBe(true);
  expect(lines).toContain(found.split('\n')[0]);
  expect(errorIn('x'.repeat(1_000))).toBe('x'.repeat(500));
});
