// The shipped packages: their sources, by hash, and their licences.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

import { expect, it } from 'vitest';
import { z } from 'zod';

const root = new URL('../../', import.meta.url);

const lockedPackage = z.object({
  integrity: z.string().optional(),
  resolved: z.string().optional(),
  optional: z.boolean().optional(),
  link: z.boolean().optional(),
  os: z.array(z.string()).optional(),
  cpu: z.array(z.string()).optional(),
});
const lockFile = z.object({ packages: z.record(z.string(), lockedPackage) });

it('every package of the lockfile comes from the registry and has a hash', async () => {
  const { packages } = lockFile.parse(JSON.parse(await readFile(new URL('package-lock.json', root), 'utf8')));
  const wrong = Object.entries(packages)
    .filter(([path, { link }]) => path.startsWith('node_modules/') && link !== true)
    .filter(([path, each]) => !isPinned(each) && !isForAnotherMachine(path, each))
    .map(([path]) => path);
  expect(wrong).toEqual([]);
});

type LockedPackage = z.infer<typeof lockedPackage>;

/** From npm's configured registry, whatever mirror that is. */
const isPinned = ({ integrity = '', resolved = 'https://registry.npmjs.org/' }: LockedPackage): boolean =>
  integrity.startsWith('sha512-') && resolved.startsWith('https://registry.npmjs.org/');

/** npm writes no hash for a binary that the registry did not have when it wrote the file. It would not be installed here either. */
const isForAnotherMachine = (path: string, { optional, os = [], cpu = [] }: LockedPackage): boolean =>
  optional === true && (path.endsWith('musl') || !runsOn(os, 'linux') || !(runsOn(cpu, 'x64') || runsOn(cpu, 'arm64')));

const runsOn = (names: readonly string[], name: string): boolean => names.length === 0 || names.includes(name);

const bom = z.object({
  bomFormat: z.literal('CycloneDX'),
  components: z.array(
    z.object({
      name: z.string(),
      version: z.string(),
      purl: z.string(),
      hashes: z
        .array(z.object({ alg: z.literal('SHA-512'), content: z.string().regex(/^[0-9a-f]{128}$/) }))
        .default([]),
      licenses: z
        .array(z.union([z.object({ license: z.object({ id: z.string() }) }), z.object({ expression: z.string() })]))
        .default([]),
    }),
  ),
});

/** None of them requires more than its text and its authors' names. */
const licences = new Set([
  ...['Apache-2.0', 'MIT', 'MIT-0', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'BlueOak-1.0.0', 'Unlicense'],
  // The data of caniuse-lite, which only the build of workflow bundles reads.
  'CC-BY-4.0',
]);

/** Packages that declare their licence in another way than npm reads, and where. */
const elsewhere = (name: string): string[] => {
  if (name === 'unionfs') return ['Unlicense'];
  // Binaries for other machines, of @swc/core.
  return name.startsWith('@swc/core-') ? ['Apache-2.0'] : [];
};

it('the bill of materials names every package that is shipped, with its hash and a licence that allows it', async () => {
  const { stdout } = await promisify(execFile)('npm', ['run', '--silent', 'sbom'], { cwd: root, maxBuffer: 2 ** 26 });
  const { components } = bom.parse(JSON.parse(stdout));
  expect(components.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['@temporalio/worker', '@hono/zod-openapi', 'kysely', 'zod']),
  );
  expect(components.map(({ name }) => name)).not.toContain('vitest');
  const withoutHash = components.filter(({ hashes }) => hashes.length === 0).map(({ purl }) => purl);
  expect(withoutHash.filter((purl) => !purl.startsWith('pkg:npm/%40swc/core-'))).toEqual([
    // Ropewalk's own, of this tree.
    expect.stringContaining('pkg:npm/%40ropewalk/sdk@'),
  ]);
  const unknown = components.flatMap(({ name, licenses }) => {
    const ids = licenses.flatMap((each) => ('license' in each ? [each.license.id] : each.expression.split(/ AND /)));
    const said = ids.length > 0 ? ids : elsewhere(name);
    return said.length > 0 && said.every((id) => licences.has(id)) ? [] : [`${name}: ${said.join(', ')}`];
  });
  expect(unknown).toEqual([]);
});
