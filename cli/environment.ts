// Parses --env, --secret-env and their files. Errors never contain values.
import { parseEnv } from 'node:util';

import type { CliContext } from './context.ts';
import { UsageError } from './errors.ts';
import { readTextFile } from './text-file.ts';

/** Files first, in order, then pairs; a later value wins. */
export async function readEnvironment(
  option: '--env' | '--secret-env',
  pairs: readonly string[],
  files: readonly string[],
  context: Pick<CliContext, 'env' | 'cwd'>,
): Promise<Record<string, string>> {
  const result: Record<string, string> = {};
  for (const file of files) Object.assign(result, await readEnvFile(`${option}-file`, file, context.cwd));
  for (const pair of pairs) {
    const [name, value] = parsePair(option, pair, context.env);
    result[name] = value;
  }
  return result;
}

/** `KEY=val`; or only `KEY`, which takes its value from this program's environment and keeps it off the command line. */
function parsePair(option: string, pair: string, env: CliContext['env']): [string, string] {
  const at = pair.indexOf('=');
  const name = at === -1 ? pair : pair.slice(0, at);
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
    throw new UsageError(
      `${option}: must be KEY=val, with letters, digits and _ in KEY`,
      `For example ${option} MODE=fast.`,
    );
  }
  const value = at === -1 ? env[name] : pair.slice(at + 1);
  if (value === undefined)
    throw new UsageError(`${option} ${name}: has no value, and the environment has no variable ${name}`);
  return [name, value];
}

async function readEnvFile(option: string, file: string, cwd: string): Promise<Record<string, string>> {
  const text = await readTextFile(option, file, cwd);
  const values: Record<string, string> = {};
  for (const [name, value] of Object.entries(parseEnv(text))) if (value !== undefined) values[name] = value;
  return values;
}
