import { describe, expect, it } from 'vitest';

import { splitWords } from '../../cli/split-words.ts';

describe('splitWords', () => {
  it.each([
    ['python work.py data.csv', ['python', 'work.py', 'data.csv']],
    ['  echo\t a  b ', ['echo', 'a', 'b']],
    [`echo 'a b' "c d" e\\ f`, ['echo', 'a b', 'c d', 'e f']],
    [`run --name="a b"'c'd`, ['run', '--name=a bcd']],
    ['echo "\\$HOME" \\$HOME $HOME', ['echo', '$HOME', '$HOME', '$HOME']],
    [`echo "a\\nb" '' 'x\\y'`, ['echo', 'a\\nb', '', 'x\\y']],
    ['sh -c "sort in.txt | uniq > out.txt"', ['sh', '-c', 'sort in.txt | uniq > out.txt']],
  ])('splits %j', (text, words) => expect(splitWords(text)).toEqual(words));

  it.each([
    '',
    'echo',
    ' echo ',
    '"a b"',
    'sort in.txt | uniq',
    'a > b',
    'a; b',
    'a & b',
    "echo 'a",
    'echo "a',
    'echo a\\',
  ])('leaves %j', (text) => expect(splitWords(text)).toBeNull());

  it.each(['echo $(date)', 'echo `date`', 'echo a\necho b'])('leaves what only a shell runs: %j', (text) =>
    expect(splitWords(text)).toBeNull(),
  );
});
