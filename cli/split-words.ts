// A command line that was given as one word, as in `batch run "python work.py data.csv"`.

/**
 * Its words, as a shell splits them: quotes and backslashes are taken off. Null for what only a shell can run (a pipe, a redirection,
 * several commands, a quote without its end), and for a single word.
 */
export function splitWords(text: string): string[] | null {
  const words = wordsOfLine(text);
  return words === null || words.length < 2 ? null : words;
}

/** The same, also for a single word and for none. */
export function wordsOfLine(text: string): string[] | null {
  const words: string[] = [];
  let rest = text.trim();
  while (rest !== '') {
    let word = '';
    for (;;) {
      const part = partOfWord.exec(rest);
      if (part === null) return null;
      const { plain, escaped, single, double } = part.groups ?? {};
      word += plain ?? escaped ?? single ?? (double ?? '').replace(/\\(["\\$`])/g, '$1');
      rest = rest.slice(part[0].length);
      if (rest === '' || /^\s/.test(rest)) break;
    }
    words.push(word);
    // A line break ends a command.
    if (/^[^\S\n]*\n/.test(rest)) return null;
    rest = rest.trimStart();
  }
  return words;
}

const partOfWord =
  /^(?:(?<plain>[^\s'"\\|&;<>()`]+)|\\(?<escaped>[^\n])|'(?<single>[^']*)'|"(?<double>(?:[^"\\]|\\[^])*)")/;
