// Reads the project's TypeScript files and their import statements, for the rules in tidy.test.ts.
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const skipped = new Set(['node_modules', 'dist', 'test-results', '__pycache__']);

export interface Import {
  /** The module as written: `../errors.ts`, `zod`. */
  source: string;
  /** Path from the repository's top for a file of the project, else the package's name. */
  target: string;
  own: boolean;
  typeOnly: boolean;
}

export interface Source {
  path: string;
  text: string;
  /** The text without comments and string contents: the code alone. */
  code: string;
  imports: Import[];
}

export function readSources(): Source[] {
  return list('', /\.tsx?$/).map((path) => {
    const text = readFileSync(join(root, path), 'utf8');
    return { path, text, code: stripped(text), imports: importsOf(path, text) };
  });
}

/** The files of python/, and the Python programs of tests. */
export const readPython = (): Pick<Source, 'path' | 'text'>[] => readTexts(/\.pyi?$/);

export const readDocuments = (): Pick<Source, 'path' | 'text'>[] => readTexts(/\.md$/);

const readTexts = (name: RegExp): Pick<Source, 'path' | 'text'>[] =>
  list('', name).map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));

/** The import and re-export statements of a file. */
export function importsOf(path: string, text: string): Import[] {
  // Statements start at the beginning of a line: the formatter ensures that.
  const statements = /^(?:import|export)\s+(type\s+)?([^;'"]*?\s+from\s+)?['"]([^'"]+)['"]/gm;
  const lazy = /\bimport\(\s*['"]([^'"]+)['"]\s*\)/g;
  return [
    ...[...text.matchAll(statements)].map((match) => ({
      source: match[3] ?? '',
      typeOnly: match[1] !== undefined || onlyTypesNamed(match[2] ?? ''),
    })),
    ...[...text.matchAll(lazy)].map((match) => ({ source: match[1] ?? '', typeOnly: false })),
  ].map(({ source, typeOnly }) => ({ source, typeOnly, ...resolve(path, source) }));
}

function onlyTypesNamed(clause: string): boolean {
  const names = /^\s*\{([^}]*)\}/
    .exec(clause)?.[1]
    ?.split(',')
    .map((name) => name.trim());
  return names !== undefined && names.filter((name) => name !== '').every((name) => name.startsWith('type '));
}

function resolve(path: string, source: string): { own: boolean; target: string } {
  if (source.startsWith('.')) return { own: true, target: posix.join(posix.dirname(path), source) };
  if (source.startsWith('node:')) return { own: false, target: 'node' };
  const parts = source.split('/');
  return { own: false, target: parts.slice(0, source.startsWith('@') ? 2 : 1).join('/') };
}

function list(folder: string, name: RegExp): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = posix.join(folder, entry.name);
    if (entry.isDirectory()) return skipped.has(entry.name) || entry.name.startsWith('.') ? [] : list(path, name);
    return name.test(entry.name) ? [path] : [];
  });
}

function stripped(text: string): string {
  const tokens = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/g;
  return text.replace(tokens, (token) => (token.startsWith('/') ? '' : "''"));
}
