import { expect, it } from 'vitest';

import type { LineSink } from '../../agent/logs/lines.ts';
import { rememberLastLines } from '../../agent/logs/last-lines.ts';

function createOutput(): { output: LineSink; passed: string[][] } {
  const passed: string[][] = [];
  const append: LineSink['append'] = (stream, lines) => {
    passed.push([stream, ...lines]);
    return false;
  };
  return { output: { append, drained: async () => {} }, passed };
}

it('the last three lines of both streams are remembered, and every line is passed on', () => {
  const { output, passed } = createOutput();
  const { sink, sentence } = rememberLastLines(output);
  expect(sentence()).toBe('It printed nothing.');
  expect(sink.append('stdout', ['a'])).toBe(false);
  expect(sentence()).toBe('Its last lines: a');
  sink.append('stderr', ['b', 'c']);
  sink.append('stdout', ['d', 'e', 'f', 'g']);
  sink.append('stderr', ['h']);
  expect(sentence()).toBe('Its last lines: f / g / h');
  expect(passed).toEqual([
    ['stdout', 'a'],
    ['stderr', 'b', 'c'],
    ['stdout', 'd', 'e', 'f', 'g'],
    ['stderr', 'h'],
  ]);
});

it('of long lines the end is shown', () => {
  const { sink, sentence } = rememberLastLines(createOutput().output);
  sink.append('stdout', [`${'x'.repeat(5_000)} the end`]);
  expect(sentence()).toMatch(/^Its last lines: x{592} the end$/);
});
