// A command line as text for views: lists, logs of the Temporal UI, the status table. Never parsed, never run.

const maxShown = 200;

/** Joins words by blanks, quoted where a reader would otherwise misread them; at most 200 characters. */
export function describeCommand(words: readonly string[]): string {
  // Cuts each word first: a command may be megabytes long.
  const text = words.slice(0, maxShown).map((word) => quote(plain(word.slice(0, 2 * maxShown))));
  const characters = [...text.join(' ')];
  return characters.length <= maxShown ? characters.join('') : `${characters.slice(0, maxShown - 1).join('')}…`;
}

/** Replaces line breaks and tabs by blanks; removes other control, direction-changing and broken characters. */
function plain(word: string): string {
  return word
    .toWellFormed()
    .replace(/[\t\r\n\u2028\u2029]+/g, ' ')
    .replace(/[\p{Cc}\u200B\u200E\u200F\u202A-\u202E\u2066-\u2069\uFEFF]/gu, '');
}

function quote(word: string): string {
  if (word !== '' && !/[\s'"\\]/.test(word)) return word;
  return word.includes("'") ? `"${word.replace(/(["\\])/g, '\\$1')}"` : `'${word}'`;
}
