import { describe, expect, it } from 'vitest';

import { blocksOf, commandsOf, compareOutput } from '../support/console-blocks.ts';

const compare = (shown: string[], stdout: string, stderr = '') => compareOutput(shown, { stdout, stderr });
const same = { missing: [], unexpected: [] };

describe('a session in a document', () => {
  it('is commands and what they print', () => {
    const text = '# Title\n```console\n$ one\nout\n$ two\n```\n```text\nother\n```\n';
    expect(blocksOf(text, 'console').map(commandsOf)).toEqual([
      [
        { command: 'one', output: ['out'] },
        { command: 'two', output: [] },
      ],
    ]);
    expect(() => blocksOf(text, 'python')).toThrow('there is no block of python');
  });

  it('equals what is printed but for times, durations, ports, order and the widths of tables', () => {
    const shown = ['2026-11-22 11:39:06.668000 a in 0.1 s', 'at tls://127.0.0.1:33981', '┏━━┓', '│ 1 │'];
    const printed = '│  1  │\n┏━━━━┓\nat tls://127.0.0.1:1\n2027-01-01 00:00:00 a in 12 s\n';
    expect(compare(shown, printed)).toEqual(same);
  });

  it('reports lines that were not printed, and lines of stdout that are not shown', () => {
    expect(compare(['a', 'b'], 'a\nc\n')).toEqual({ missing: ['b'], unexpected: ['c'] });
    expect(compare(['a', 'note'], 'a\n', 'note\nprogress\n')).toEqual(same);
  });

  it('may leave out lines, or the end of a line', () => {
    expect(compare(['a', '...'], 'a\nb\n')).toEqual(same);
    expect(compare(['{"a": ...'], '{"a": 1}\n')).toEqual(same);
    expect(compare(['{"b": ...', '...'], '{"a": 1}\n')).toEqual({ missing: ['{"b": ...'], unexpected: [] });
  });
});
