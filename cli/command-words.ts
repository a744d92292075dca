// The words of a command as they were given, or those of the command line that its only word is.
import { resolve } from 'node:path';

import type { CliContext } from './context.ts';
import { describeFile } from './found-file.ts';
import { splitWords } from './split-words.ts';

/** One word with blanks is a command line, unless it is the name of a file. */
export async function commandWords(
  words: string[],
  { commandOnInstance }: { commandOnInstance?: boolean },
  { cwd }: Pick<CliContext, 'cwd'>,
): Promise<string[]> {
  const [only = ''] = words;
  if (words.length > 1 || commandOnInstance === true || !/\s/.test(only)) return words;
  return (await describeFile(resolve(cwd, only))) === null ? (splitWords(only) ?? words) : words;
}
