// Every `ropewalk ...` command in an error, a page or a document exists.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { readSources } from '../tidy/sources.ts';
import { callCli } from './call-cli.ts';

const root = join(import.meta.dirname, '../..');
const documents = [
  'README.md',
  ...['aws', 'dashboard', 'errors', 'operations', 'people', 'security'].map((name) => `docs/${name}.md`),
];
/** In code, quotes or a block; prose may contain "a ropewalk was the long hall". */
const named = /(?:`|>\s*|bin\/|^\s*\$ )ropewalk(?:\.mjs)? ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?/gm;

/** A sign-in is called `ropewalk on laptop`. */
const notCommands = new Set(['on']);

const commandsOf = (help: string): string[] =>
  (help.split('Commands:\n')[1] ?? '').split('\n').flatMap((line) => /^ {2}([a-z][a-z-]*)/.exec(line)?.[1] ?? []);

it('every command that a text names exists', async () => {
  const product = readSources().filter(({ path }) => !path.startsWith('test/'));
  const texts = await Promise.all(
    documents.map((path) => readFile(join(root, path), 'utf8').then((text) => ({ path, text }))),
  );
  const uses = [...product, ...texts].flatMap(({ path, text }) =>
    [...text.matchAll(named)].map(([, group = '', verb]) => ({ path, group, verb })),
  );
  expect(uses.length).toBeGreaterThan(30);
  const groups = commandsOf((await callCli(['--help'])).stdout);
  const verbs = new Map<string, string[]>();
  for (const group of ['batch', 'cluster', 'token', 'user', 'workspace']) {
    verbs.set(group, commandsOf((await callCli([group, '--help'])).stdout));
  }
  const unknown = uses.filter(({ group, verb }) => {
    if (notCommands.has(group)) return false;
    if (!groups.includes(group)) return true;
    return verb !== undefined && verbs.has(group) && !verbs.get(group)?.includes(verb);
  });
  expect(unknown).toEqual([]);
});
