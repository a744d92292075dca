// Turns a job's command into the words that are run. Pure, and no shell: a word stays one word whatever is in it.
import { posix } from 'node:path';

import { hasInterpreter } from './task-files.ts';
import type { TaskFile } from './task-files.ts';

/** `$NAME` and `${NAME}` become the task's variables; names that the task does not have stay as they are written. */
export function resolveCommand(
  words: readonly string[],
  env: Record<string, string>,
  files: readonly TaskFile[],
): string[] {
  const [first = '', ...rest] = words.map((word) => substitute(word, env));
  return [...runner(first, files), ...rest];
}

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

function substitute(word: string, env: Record<string, string>): string {
  return word.replace(/\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))/g, (written, braced?: string, bare?: string) => {
    const name = braced ?? bare ?? '';
    return (Object.hasOwn(env, name) ? env[name] : undefined) ?? written;
  });
}
