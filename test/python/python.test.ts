// The Python package as its users get it: the contents of its wheel, and its command. Its own tests: wheel.full.test.ts runs
// those against stand-ins of the API, dask.full.test.ts those that start Dask clusters, stack.full.test.ts those that need a
// stack; types.full.test.ts checks its types.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';

import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createOutput } from '../../cli/output.ts';
import { createProgram } from '../../cli/program.ts';
import { type BuiltPackage, buildPackage } from './built-package.ts';

const minutes = 60_000;
/** Commands that the checkout's command lacks. */
const onlyInPython = [
  ...['notebook start', 'notebook list', 'notebook link', 'notebook stop'],
  ...['config list', 'config set', 'config unset'],
];

let built: BuiltPackage;
beforeAll(async () => {
  built = await buildPackage({ withAws: false });
}, 5 * minutes);
afterAll(() => built?.remove());

describe('the wheel', () => {
  it('holds the package, typed, and what it needs', async () => {
    const files = await readdir(built.site, { recursive: true });
    expect(files).toEqual(
      expect.arrayContaining(['ropewalk/__init__.py', 'ropewalk/batch/__init__.py', 'ropewalk/py.typed']),
    );
    const information = files.find((name) => name.endsWith('.dist-info/METADATA')) ?? '';
    const metadata = await readFile(join(built.site, information), 'utf8');
    expect([...metadata.matchAll(/^Requires-Dist: (.*)$/gm)].map(([, name]) => name)).toEqual([
      'distributed>=2025.11.0',
      "rich>=13; extra == 'widget'",
    ]);
    expect(metadata).toContain('Requires-Python: >=3.10');
    expect(files.filter((name) => name.includes('test'))).toEqual([]);
    const scripts = files.find((name) => name.endsWith('.dist-info/entry_points.txt')) ?? '';
    expect(await readFile(join(built.site, scripts), 'utf8')).toBe(
      '[console_scripts]\nropewalk = ropewalk.cli.main:main\n',
    );
  });
});

describe("the wheel's command and the one of a checkout", () => {
  const own = createProgram({
    ...{ env: {}, home: '/none', cwd: '/none' },
    output: createOutput(new PassThrough(), new PassThrough()),
  }).program;
  let python: Commands;
  beforeAll(async () => {
    const script = join(import.meta.dirname, 'list_commands.py');
    // eslint-disable-next-line typescript/no-unsafe-type-assertion -- the script is beside this file
    python = JSON.parse(await built.python([script], { PYTHONPATH: built.site, PYTHONSAFEPATH: '1' })) as Commands;
  }, minutes);

  it('have the same names: what Python lacks says where it is', () => {
    expect(Object.keys(python.elsewhere).filter((path) => find(own, path) === undefined)).toEqual([]);
    const lacked = (path: string): boolean =>
      python.commands[path] === undefined &&
      !Object.keys(python.elsewhere).some((one) => `${path} `.startsWith(`${one} `));
    expect(leaves(own).filter(lacked)).toEqual([]);
    expect(onlyInPython.filter((path) => python.commands[path] === undefined || find(own, path) === undefined)).toEqual(
      [],
    );
    expect(Object.keys(python.commands)).toEqual(
      expect.arrayContaining(['login', 'batch run', 'cluster why', 'env list']),
    );
  });

  it('have the same options, choices, defaults and texts', () => {
    for (const [path, { help, options }] of Object.entries(python.commands)) {
      if (onlyInPython.includes(path)) continue;
      const command = find(own, path);
      if (command === undefined) throw new Error(`only Python has ${path}`);
      expect.soft(help, path).toBe(command.description());
      expect.soft(sorted(options), path).toEqual(sorted(optionsOf(command)));
    }
  });
});

describe('what only Python has', () => {
  it.each(onlyInPython)('%s says so here, with whatever options, and how to install it', async (path) => {
    const said = { out: new PassThrough(), err: new PassThrough() };
    const { program } = createProgram({
      ...{ env: {}, home: '/none', cwd: '/none' },
      output: createOutput(said.out, said.err),
    });
    const command = program.parseAsync([...path.split(' '), 'analysis', '--sync', '.', '--help'], { from: 'user' });
    await expect(command).rejects.toMatchObject({
      message: expect.stringContaining(`ropewalk ${path} is in the Python package`),
      hint: expect.stringContaining('pip install ./python'),
    });
  });
});

interface OptionText {
  names: string[];
  takesValue: boolean;
  choices: string[];
  default: string | null;
  help: string;
}

interface Commands {
  commands: Record<string, { help: string; options: OptionText[] }>;
  elsewhere: Record<string, string>;
}

const find = (program: Command, path: string): Command | undefined =>
  path.split(' ').reduce<Command | undefined>((at, name) => at?.commands.find((one) => one.name() === name), program);

const leaves = (command: Command, path: string[] = []): string[] =>
  command.commands.flatMap((one) => {
    const below = [...path, one.name()];
    return one.commands.length === 0 ? [below.join(' ')] : leaves(one, below);
  });

const sorted = (options: OptionText[]): OptionText[] =>
  options
    .map((option) => ({ ...option, names: option.names.toSorted() }))
    .toSorted((a, b) => a.names.join().localeCompare(b.names.join()));

/** A hidden option without a text is an alias of the option with "(also --name)". */
function optionsOf(command: Command): OptionText[] {
  const also = ({ description }: { description: string }): string | undefined =>
    /\(also (--[\w-]+)\)/.exec(description)?.[1];
  const others = new Set(command.options.flatMap((option) => also(option) ?? []));
  return command.options
    .filter(({ long }) => !others.has(long ?? ''))
    .map((option) => ({
      names: [option.short, option.long, also(option)].filter((name) => name !== undefined && name !== null),
      takesValue: option.required,
      choices: option.argChoices ?? [],
      default: option.defaultValue === undefined ? null : String(option.defaultValue),
      // Only the environment that package sync reads differs.
      help: option.description.replace('of your python (', 'of this Python ('),
    }));
}
