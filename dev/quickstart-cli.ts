// Prints a command of the quickstart and runs exactly that, like a user who types it at the top of the checkout, with the
// checkout's bin/ on the PATH.
import { spawn } from 'node:child_process';
import { delimiter, join } from 'node:path';

import { repository } from './build.ts';

/**
 * Shows the command and its output. Resolves when it has ended.
 * @param words after `ropewalk`. Throws when one needs quotes in a shell.
 */
export async function typeCommand(
  words: readonly string[],
  env: Record<string, string>,
): Promise<{ code: number; stdout: string }> {
  const unquoted = words.find((word) => !/^[\w@%+=:,./-]+$/.test(word));
  if (unquoted !== undefined) throw new Error(`${JSON.stringify(unquoted)} needs quotes in a shell`);
  console.log(`$ ${['ropewalk', ...words].join(' ')}`);
  const PATH = [join(repository, 'bin'), env['PATH'] ?? ''].join(delimiter);
  const child = spawn('ropewalk', words, {
    cwd: repository,
    env: { ...env, PATH },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    process.stdout.write(text);
  });
  const code = await new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (exitCode) => resolve(exitCode ?? 1));
  });
  console.log('');
  return { code, stdout };
}

/** The number in `Job 1 done: ...` or `Cluster 2 (weather) ready: ...`. */
export function numberIn(noun: 'Job' | 'Cluster', stdout: string): number {
  const number = new RegExp(`^${noun} (\\d+) `, 'm').exec(stdout)?.[1];
  if (number === undefined) throw new Error(`the command printed no ${noun.toLowerCase()} number`);
  return Number(number);
}
