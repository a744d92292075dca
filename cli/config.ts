// Resolves the API's address and the token, each on its own: flag, then environment, then config.yaml.
// No error contains the token.
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

import { parse } from 'yaml';

import { UsageError } from './errors.ts';

export interface Connection {
  apiUrl: string;
  token: string;
}

interface Given {
  apiUrl?: string;
  tokenFile?: string;
}

/** Sources of values without a flag. */
interface Sources {
  env: Record<string, string | undefined>;
  home: string;
  cwd: string;
}

export async function resolveConnection(flags: Given, context: Sources): Promise<Connection> {
  const file = configFile(context.home);
  const apiUrl = givenUrl(flags, context.env);
  const token =
    flags.tokenFile === undefined ? context.env['ROPEWALK_TOKEN'] : await readToken(flags.tokenFile, context.cwd);
  // An invalid file must not stop a user who does not need it.
  const config = apiUrl !== undefined && token ? {} : await readConfig(file);
  return {
    apiUrl: checkUrl(apiUrl ?? config['apiUrl'] ?? missingUrl(file)),
    token: (token || config['token']) ?? missing('token', 'ROPEWALK_TOKEN or --token-file', file),
  };
}

/** The address without a token, for signing in. */
export async function resolveApiUrl(
  flags: Pick<Given, 'apiUrl'>,
  { env, home }: Pick<Sources, 'env' | 'home'>,
): Promise<string> {
  const file = configFile(home);
  return checkUrl(givenUrl(flags, env) ?? (await readConfig(file))['apiUrl'] ?? missingUrl(file));
}

export const configFile = (home: string): string => join(home, 'config.yaml');

const givenUrl = ({ apiUrl }: Pick<Given, 'apiUrl'>, env: Sources['env']): string | undefined =>
  apiUrl ?? (env['ROPEWALK_API_URL'] || undefined);

const missingUrl = (file: string): never => missing('address of the API', 'ROPEWALK_API_URL or --api-url', file);

function checkUrl(apiUrl: string): string {
  if (/^https?:\/\//.test(apiUrl) && URL.canParse(apiUrl)) return apiUrl;
  throw new UsageError(
    `the address of the API is not an http or https URL: ${apiUrl}`,
    'For example http://127.0.0.1:7280.',
  );
}

export async function readToken(path: string, cwd: string): Promise<string> {
  const text = await readFile(resolve(cwd, path), 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`--token-file: cannot read ${path}: ${error.code ?? error.message}`);
  });
  const token = text.trim();
  if (token === '') throw new UsageError(`--token-file: ${path} is empty`);
  return token;
}

/** The settings of the file; empty when there is no file. */
export async function readConfig(file: string): Promise<Record<string, string>> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw new UsageError(`cannot read ${file}: ${error.code ?? error.message}`);
  });
  const parsed = parseYaml(text, file);
  if (parsed === null || parsed === undefined) return {};
  if (typeof parsed !== 'object' || Array.isArray(parsed)) throw notValid(file, 'it is not a map of settings');
  const wrong = Object.entries(parsed).find(([, value]) => typeof value !== 'string');
  if (wrong !== undefined) throw notValid(file, `${wrong[0]} is not a string`);
  return Object.fromEntries(Object.entries(parsed));
}

function parseYaml(text: string, file: string): unknown {
  try {
    return parse(text);
  } catch {
    // The parser's message quotes the line, which can contain the token.
    throw notValid(file, 'it is not YAML');
  }
}

function notValid(file: string, why: string): UsageError {
  return new UsageError(`${file} is not a valid configuration: ${why}`, 'Correct the file, or move it away.');
}

function missing(what: string, where: string, file: string): never {
  throw new UsageError(
    `the ${what} is not set`,
    `Set ${where}; or sign in with \`ropewalk login\`, or start \`ropewalk dev\`: both write ${file}.`,
  );
}
