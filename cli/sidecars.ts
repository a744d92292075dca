// The file of --scheduler-sidecar-spec, as Coiled has it: YAML or JSON, a list of containers or a mapping by their names.
import { readFile } from 'node:fs/promises';
import { extname, resolve } from 'node:path';

import { type DocumentOptions, parse, type ParseOptions, type SchemaOptions } from 'yaml';

import type { CreateJob } from '../sdk/client.ts';
import type { CliContext } from './context.ts';
import { UsageError } from './errors.ts';
import { wordsOfLine } from './split-words.ts';

type Sidecar = NonNullable<CreateJob['schedulerSidecars']>[number];

export async function sidecarsOf(
  { cwd }: Pick<CliContext, 'cwd'>,
  { schedulerSidecarSpec: path }: { schedulerSidecarSpec?: string },
): Promise<Pick<CreateJob, 'schedulerSidecars'>> {
  if (path === undefined) return {};
  if (!['.yaml', '.yml', '.json'].includes(extname(path)))
    throw new UsageError(`--scheduler-sidecar-spec: ${path} ends neither with .yaml nor with .json`);
  const text = await readFile(resolve(cwd, path), 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`--scheduler-sidecar-spec: cannot read ${path}: ${error.code ?? error.message}`);
  });
  return { schedulerSidecars: readSidecars(text, path) };
}

/**
 * Values are text, as they are written: YAML 1.1 and 1.2 read `012`, `yes` and `1:30` differently, and a variable or a word of a command is text in
 * the end. Only an empty value, `~` and `null` are none.
 */
const textAlone: SchemaOptions & ParseOptions & DocumentOptions = {
  schema: 'failsafe',
  customTags: ['null'],
  merge: true,
  logLevel: 'error',
};

/** JSON is YAML. @throws UsageError */
export function readSidecars(text: string, path: string): Sidecar[] {
  const refuse = (what: string): UsageError => new UsageError(`--scheduler-sidecar-spec: ${path}: ${what}`);
  let spec: unknown;
  try {
    spec = parse(text, textAlone);
  } catch (error) {
    throw refuse(error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error));
  }
  const entries: [unknown, unknown][] = Array.isArray(spec)
    ? spec.map((one: unknown) => [isRecord(one) ? one['name'] : undefined, one])
    : isRecord(spec)
      ? Object.entries(spec)
      : [];
  if (entries.length === 0) throw refuse('it names no container');
  return entries.map(([name, one]) => readOne(name, one, refuse));
}

const known = ['name', 'image', 'container', 'command', 'env', 'environment', 'ports'];

function readOne(name: unknown, one: unknown, refuse: (what: string) => UsageError): Sidecar {
  if (typeof name !== 'string' || !isRecord(one)) throw refuse('each container needs a name, and an image');
  const unknown = Object.keys(one).find((key) => !known.includes(key));
  if (unknown === 'filestores')
    throw refuse(
      `${name}: filestores are not kept for sidecars; let it write to a bucket, or to a path of a task that is downloaded`,
    );
  if (unknown !== undefined) throw refuse(`${name}: ${unknown} is not known; there are ${known.join(', ')}`);
  const image = one['container'] ?? one['image'];
  if (typeof image !== 'string') throw refuse(`${name} has no image`);
  const ports = one['ports'] ?? [];
  if (!Array.isArray(ports)) throw refuse(`${name}: ports is no list`);
  const wrongPort = ports.findIndex((port: unknown) => !isPort(port));
  if (wrongPort !== -1)
    throw refuse(`${name}: ports: ${String(ports[wrongPort])} is no port; write a number from 1 to 65535`);
  const command = wordsOfCommand(one['command'], () => refuse(`${name}: command is neither text nor a list of words`));
  const env = variablesOf(one['env'] ?? one['environment'], () => refuse(`${name}: write variables as KEY: value`));
  return {
    ...{ name, container: image },
    ...(command.length > 0 && { command }),
    ...(Object.keys(env).length > 0 && { env }),
    ...(ports.length > 0 && { ports: ports.map(Number) }),
  };
}

const isPort = (port: unknown): boolean =>
  typeof port === 'string' && /^[0-9]{1,5}$/.test(port) && Number(port) > 0 && Number(port) < 65_536;

/** Text is split as a shell splits it. */
function wordsOfCommand(command: unknown, wrong: () => UsageError): string[] {
  if (command === undefined || command === null) return [];
  const words = typeof command === 'string' ? wordsOfLine(command) : command;
  if (Array.isArray(words) && words.every((word) => typeof word === 'string')) return words;
  throw wrong();
}

/** A mapping, or a list of `KEY=value`, as in a file of Docker Compose. */
function variablesOf(variables: unknown, wrong: () => UsageError): Record<string, string> {
  if (variables === undefined || variables === null) return {};
  if (!Array.isArray(variables) && !isRecord(variables)) throw wrong();
  const pairs = Array.isArray(variables) ? variables.map(splitPair) : Object.entries(variables);
  return Object.fromEntries(
    pairs.map(([name, value]) => {
      if (typeof value !== 'string') throw wrong();
      return [name, value];
    }),
  );
}

function splitPair(pair: unknown): [string, unknown] {
  const text = typeof pair === 'string' ? pair : '';
  const at = text.indexOf('=');
  return at < 1 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
