// Rules of the project that a compiler does not check. Each names the files that break it.
import { describe, expect, it } from 'vitest';

import { circlesOf } from './circles.ts';
import { importsOf, readPython, readSources, type Source } from './sources.ts';
import { compositionRoots, table } from './table.ts';

const sources = readSources();
const product = sources.filter((source) => !source.path.startsWith('test/'));
const byPath = new Map(sources.map((source) => [source.path, source]));
const broken = (files: Source[], isBroken: (source: Source) => boolean): string[] =>
  files.filter(isBroken).map((source) => source.path);

describe('imports', () => {
  it('go the way the table says', () => {
    expect(sources.flatMap(refusedImports)).toEqual([]);
  });

  it('make no circles, imports of types included', () => {
    expect(circlesOf(product)).toEqual([]);
    const file = (path: string, text: string) => ({ path, imports: importsOf(path, text) });
    const files = [
      file('a/start.ts', "import './one.ts';"),
      file('a/one.ts', "import type { Two } from './two.ts';"),
      file('a/two.ts', "import type { One } from './one.ts';\nimport './leaf.ts';"),
      file('a/leaf.ts', ''),
    ];
    expect(circlesOf(files)).toEqual(['a/one.ts', 'a/two.ts']);
  });

  it('name files of ours with their extension', () => {
    expect(
      sources.flatMap((source) =>
        source.imports
          .filter((used) => used.own && !/\.(tsx?|mjs|json|css)$/.test(used.source))
          .map((used) => `${source.path}: ${used.source}`),
      ),
    ).toEqual([]);
  });

  it('bring no zod into workflow code, also not by way of another file', () => {
    const reached = reachableByValue(sources.filter((source) => source.path.startsWith('workflows/')));
    expect(broken(reached, (source) => source.imports.some((used) => used.target === 'zod' && !used.typeOnly))).toEqual(
      [],
    );
  });

  it('are read as they are written', () => {
    const text = [
      "import type { A } from '../a.ts';",
      "import { type B } from './b.ts';",
      "import {\n  c,\n  type C,\n} from 'zod';",
      "export * from '@temporalio/client/lib/x';",
      "import 'node:fs';",
      "const later = import('./d.ts');",
    ].join('\n');
    expect(importsOf('x/y.ts', text).map(({ target, typeOnly }) => [target, typeOnly])).toEqual([
      ['a.ts', true],
      ['x/b.ts', true],
      ['zod', false],
      ['@temporalio/client', false],
      ['node', false],
      ['x/d.ts', false],
    ]);
  });
});

describe('files', () => {
  it('are at most 300 lines long', () => {
    const long = [...sources, ...readPython()].filter(({ text }) => text.trimEnd().split('\n').length > 300);
    expect(long.map(({ path }) => path)).toEqual([]);
  });

  it('begin by saying what they are for', () => {
    expect(broken(product, (source) => !/^(#![^\n]*\n)?\/[/*]/.test(source.text))).toEqual([]);
  });

  it('have no any, no enum, no namespace, no default export', () => {
    const forbidden =
      /(:\s*|<|\bas\s+|\|\s*)any\b(?!\s*\()|^(export )?(const )?enum\s|^(export )?namespace\s|^export default\b/m;
    expect(
      broken(sources, (source) => !source.path.endsWith('vitest.config.ts') && forbidden.test(source.code)),
    ).toEqual([]);
  });

  it('leave nothing to be done later', () => {
    const note = new RegExp(`\\b(${['TO' + 'DO', 'FIX' + 'ME', 'X' + 'XX'].join('|')})\\b`);
    expect(broken(sources, (source) => note.test(source.text))).toEqual([]);
  });

  it('name a provider only in providers/ and where a program starts', () => {
    const places = /^(providers|bench)\//;
    const names = /(['"`])(aws|gcp|local)\1/;
    expect(
      broken(product, ({ path, text }) => !places.test(path) && !compositionRoots.test(path) && names.test(text)),
    ).toEqual([]);
  });

  it('read the environment only where a program starts', () => {
    expect(broken(sources, ({ path, code }) => !compositionRoots.test(path) && /\bprocess\.env\b/.test(code))).toEqual(
      [],
    );
  });

  it('start no shell', () => {
    const shell = /(?<![.\w])(execSync|exec)\(|\bshell:\s*true/;
    expect(broken(product, (source) => /'node:child_process'/.test(source.text) && shell.test(source.code))).toEqual(
      [],
    );
  });
});

describe('tests', () => {
  it('are neither skipped nor singled out', () => {
    const left = /\b(it|test|describe)\.(skip|only|todo|fails)\b|\b(xit|xdescribe|fit|fdescribe)\(/;
    expect(broken(sources, (source) => left.test(source.code))).toEqual([]);
  });
});

function refusedImports(source: Source): string[] {
  const row = table.find(([prefix]) => source.path.startsWith(prefix))?.[1];
  if (row === undefined) return [`${source.path}: this folder has no row in test/tidy/table.ts`];
  return source.imports
    .filter((used) => {
      const [value, types] = used.own ? [row.own, row.ownTypes] : [row.packages, row.packageTypes];
      return !value.test(used.target) && !(used.typeOnly && types?.test(used.target) === true);
    })
    .map((used) => `${source.path}: ${used.source}${used.typeOnly ? ' (types)' : ''}`);
}

function reachableByValue(from: Source[]): Source[] {
  const seen = new Set(from);
  for (const source of seen) {
    for (const used of source.imports) {
      const next = used.own && !used.typeOnly ? byPath.get(used.target) : undefined;
      if (next !== undefined) seen.add(next);
    }
  }
  return [...seen];
}
