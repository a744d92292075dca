// Turns a job's command into the words that are run. Pure, and no shell: a word stays one word whatever is in it.
import { posix } from 'node:path';

import { hasInterpreter } from './task-files.ts';
import type { TaskFile } from './task-files.ts';

export interface Variables {
  values: Readonly<Record<string, string>>;
  /** Names of those that never become words: the arguments of a process are public on its machine. */
  secret: readonly string[];
}

/**
 * `$NAME` and `${NAME}` become the task's variables; names that the task does not have stay as they are written, and so do secrets.
 * A word that is the text of a program is left alone, because a value would become a part of it: its interpreter reads the
 * environment by itself.
 */
export function resolveCommand(
  words: readonly string[],
  { values, secret }: Variables,
  files: readonly TaskFile[],
): string[] {
  const known = new Map(Object.entries(values).filter(([name]) => !secret.includes(name)));
  const [first = '', ...rest] = words.map((word, index) =>
    isProgramText(word, words[index - 1]) ? word : substitute(word, known),
  );
  return [...runner(first, files), ...rest];
}

/** As in `sh -c TEXT`; and whatever is more than a path, an option or a plain value. */
const isProgramText = (word: string, before: string | undefined): boolean =>
  (before !== undefined && /^-[A-Za-z]*c$/.test(before)) || !plainWord.test(word.replaceAll(reference, ''));

const plainWord = /^[\p{L}\p{N}_./:=@%+,~-]*$/u;
const reference = /\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))/g;

/** A job's own file as the first word is run by what it says itself, else by what its name says. */
function runner(word: string, files: readonly TaskFile[]): string[] {
  const file = files.find(({ path }) => path === posix.normalize(word));
  if (file === undefined) return [word];
  const script = `./${file.path}`;
  if (hasInterpreter(file.content)) return [script];
  if (file.path.endsWith('.py')) return ['python3', '-u', script];
  if (file.path.endsWith('.sh')) return ['bash', script];
  return file.executable ? [script] : [word];
}

const substitute = (word: string, known: ReadonlyMap<string, string>): string =>
  word.replace(reference, (written, braced?: string, bare?: string) => known.get(braced ?? bare ?? '') ?? written);
