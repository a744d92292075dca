// Turns a job's command into the words to execute. Pure, without a shell: a word stays one word whatever its content.
import { posix } from 'node:path';

import { hasInterpreter } from './task-files.ts';
import type { TaskFile } from './task-files.ts';

export interface Variables {
  values: Readonly<Record<string, string>>;
  /** Names of secrets, which never become words: the arguments of a process are visible to all users of its machine. */
  secret: readonly string[];
}

/**
 * Replaces `$NAME` and `${NAME}` by the task's variables; unknown names and secrets stay as written. A word that is program
 * text is unchanged, because a value would become code: its interpreter reads the environment by itself.
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

/** As in `sh -c TEXT`; also everything beyond a path, an option or a plain value. */
const isProgramText = (word: string, before: string | undefined): boolean =>
  (before !== undefined && /^-[A-Za-z]*c$/.test(before)) || !plainWord.test(word.replaceAll(reference, ''));

const plainWord = /^[\p{L}\p{N}_./:=@%+,~-]*$/u;
const reference = /\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))/g;

/** A job's own file as the first word is run by its `#!` line, else by its name's extension. */
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
