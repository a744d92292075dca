// Converts a conda environment.yml to requirements for a package index, because environments are not built from conda's
// channels.
import { readFile } from 'node:fs/promises';

import { parse } from 'yaml';

import { UsageError } from './errors.ts';

export interface CondaContent {
  requirements: string[];
  /** E.g. "3.12". */
  python: string | undefined;
}

/** Throws UsageError naming the packages that no package index has. */
export async function readConda(text: string, path: string): Promise<CondaContent> {
  const listed: unknown = Reflect.get(Object(parsed(text, path)), 'dependencies');
  if (!Array.isArray(listed) || listed.length === 0) {
    throw new UsageError(`--conda: ${path} has no list of dependencies`);
  }
  const names = await readNames();
  const content: CondaContent = { requirements: [], python: undefined };
  const missing: string[] = [];
  for (const one of listed) {
    const ofPip: unknown = Reflect.get(Object(one), 'pip');
    if (Array.isArray(ofPip)) content.requirements.push(...ofPip.map(String));
    else if (typeof one !== 'string') throw new UsageError(`--conda: ${path}: ${JSON.stringify(one)} is no dependency`);
    else {
      const python = /^python\s*(?:=+\s*(3\.\d+)[\d.*]*)?$/.exec(one.trim());
      if (python !== null) content.python = python[1];
      else if (!['pip', 'conda', 'mamba'].includes(one.trim())) {
        const requirement = requirementOf(one, names);
        if (requirement === null) missing.push(one);
        else content.requirements.push(requirement);
      }
    }
  }
  if (missing.length === 0) return content;
  throw new UsageError(
    `--conda: environments are built from package indexes, and none has ${missing.join(', ')}`,
    'Build an image with them and name it with --container, or leave them out.',
  );
}

function parsed(text: string, path: string): unknown {
  try {
    return parse(text);
  } catch {
    throw new UsageError(`--conda: ${path} is no YAML`);
  }
}

interface Names {
  onPypi: Record<string, string>;
  notPython: string[];
  own: string[];
}

async function readNames(): Promise<Names> {
  const file = new URL('../python/ropewalk/package_sync/conda-names.json', import.meta.url);
  // eslint-disable-next-line typescript/no-unsafe-type-assertion -- a file of this repository
  return JSON.parse(await readFile(file, 'utf8')) as Names;
}

/** The same rules as python/ropewalk/package_sync/conda.py; one test has the examples of both. */
function requirementOf(spec: string, { onPypi, notPython, own }: Names): string | null {
  const match = /^([A-Za-z0-9][A-Za-z0-9._-]*)\s*(.*)$/.exec(spec.split('::').at(-1)?.trim() ?? '');
  const name = match?.[1]?.replaceAll(/[-_.]+/g, '-').toLowerCase() ?? '';
  if (name === '' || [...notPython, ...own].includes(name) || /^(?:lib|r-|cuda-)/.test(name)) return null;
  const found = onPypi[name] ?? name;
  const version = match?.[2] ?? '';
  const exact = /^=([^=\s]+)/.exec(version)?.[1];
  if (exact !== undefined) return `${found}==${exact.replace(/\.?\*$/, '')}.*`;
  return `${found}${version.startsWith('=') ? (version.split(' ')[0] ?? '') : version.replaceAll(' ', '')}`;
}
