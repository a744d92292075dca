// The words of the project, in names, comments and titles.
import { describe, expect, it } from 'vitest';

import { readDocuments, readPython, readSources } from './sources.ts';
import { avoided, exceptions, wordsOf } from './vocabulary.ts';

interface Found {
  path: string;
  line: number;
  word: string;
  use: string;
}

/** This test and its lists must name the words. */
const isOwn = (path: string): boolean => path.startsWith('test/tidy/vocabulary');
const sources = [...readSources(), ...readPython(), ...readDocuments()].filter(({ path }) => !isOwn(path));

describe('the vocabulary', () => {
  it('has no word that the field says otherwise', () => {
    const found = sources
      .flatMap(({ path, text }) => avoidedWords(path, text))
      .filter(({ path, word }) => !exceptions.some((known) => known.path === path && known.word === word));
    expect(found).toEqual([]);
  });

  it('is searched in names and texts of every spelling', () => {
    const text = ['const deadManMs = 5;', '// The dead-man limit.', "it('is over', () => undefined);", 'DEAD_MAN'];
    expect(avoidedWords('a.ts', text.join('\n')).map(({ line, word }) => `${line} ${word}`)).toEqual([
      '1 dead man',
      '2 dead man',
      '3 is over',
      '4 dead man',
    ]);
    expect(avoidedWords('a.ts', 'const placeholder = deadline + rollback;')).toEqual([]);
  });

  it('names only exceptions that exist', () => {
    for (const { path, word } of exceptions) {
      const source = sources.find((each) => each.path === path);
      expect(wordsOf(source?.text ?? '')).toContain(word);
    }
  });
});

function avoidedWords(path: string, text: string): Found[] {
  // Most files have none of the words: their lines need not be read one by one.
  const whole = wordsOf(text);
  const present = avoided.filter(({ words }) => words.test(whole));
  if (present.length === 0) return [];
  return text.split('\n').flatMap((content, index) =>
    present.flatMap(({ words, use }) => {
      const word = words.exec(wordsOf(content))?.[0];
      return word === undefined ? [] : [{ path, line: index + 1, word, use }];
    }),
  );
}
