// `npm run build:sdk`: builds dist/sdk, the published package. tsc compiles the sources; the SDK's types from schema/ become
// one declaration file without zod; package.json names the compiled files.
import { execFileSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { printSchemaTypes } from './schema-types.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));
const source = join(repository, 'sdk');
const project = join(source, 'tsconfig.build.json');

/** Builds the package in `outDir` completely, or leaves the directory unchanged. */
export async function buildSdk(outDir: string): Promise<void> {
  await mkdir(dirname(outDir), { recursive: true });
  const work = await mkdtemp(`${outDir}-`);
  try {
    const made = join(work, 'package');
    await compile(join(work, 'compiled'), made);
    for (const name of ['README.md', '../LICENSE']) await cp(join(source, name), join(made, name.replace('../', '')));
    await writeFile(join(made, 'package.json'), await describePackage());
    await rm(outDir, { recursive: true, force: true });
    await rename(made, outDir);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function compile(compiled: string, made: string): Promise<void> {
  const tsc = join(repository, 'node_modules', '.bin', 'tsc');
  execFileSync(tsc, ['-p', project, '--outDir', compiled], { stdio: ['ignore', 'inherit', 'inherit'] });
  // Also compiles schema/ and its imports, because the SDK names their types; only the SDK's own files are shipped.
  await rename(join(compiled, 'sdk'), made);
  const used = new Map<string, Set<string>>();
  for (const name of (await readdir(made)).filter((each) => each.endsWith('.d.ts'))) {
    const path = join(made, name);
    await writeFile(path, withShippedImports(await readFile(path, 'utf8'), used));
  }
  await writeFile(join(made, 'schema.d.ts'), printSchemaTypes(project, used));
}

/**
 * Replaces the `.ts` that tsc leaves in the specifiers of declarations. Adds the names imported from schema/ to `used`, by
 * module.
 */
function withShippedImports(text: string, used: Map<string, Set<string>>): string {
  const fromSchema = /^(?:import|export) type \{([^}]*)\} from '\.\.\/schema\/([\w-]+)\.ts'/gm;
  for (const [, names = '', module = ''] of text.matchAll(fromSchema)) {
    const list = names.split(',').map((name) => name.trim());
    used.set(module, new Set([...(used.get(module) ?? []), ...list.filter((name) => name !== '')]));
  }
  return text
    .replace(/(\bfrom )'\.\.\/schema\/[\w-]+\.ts'/g, "$1'./schema.js'")
    .replace(/(\bfrom |\bimport\()(['"])(\.\/[\w-]+)\.ts\2/g, '$1$2$3.js$2');
}

async function describePackage(): Promise<string> {
  const { exports: _, imports: __, ...rest } = JSON.parse(await readFile(join(source, 'package.json'), 'utf8'));
  const about = {
    ...rest,
    types: './client.d.ts',
    exports: { '.': { types: './client.d.ts', default: './client.js' }, './package.json': './package.json' },
    imports: { '#defaults': { node: './defaults-node.js', default: './defaults-none.js' } },
    files: ['*.js', '*.d.ts'],
  };
  return `${JSON.stringify(about, null, 2)}\n`;
}

if (import.meta.main) {
  const outDir = join(repository, 'dist', 'sdk');
  await buildSdk(outDir);
  process.stdout.write(`${outDir}\n`);
}
