// The stages of both images have every source file that their programs import: a missing folder would only fail the build of an image.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const builds = ['ops/build.ts', 'agent/main.ts', 'workflows/index.ts', 'workflows/updates-last.ts'];

describe.each([
  ['api', 'build', builds],
  ['api', 'web', ['web/build.ts', 'web/main.tsx']],
  ['api', '', ['api/server.ts', 'api/large-bodies/thread.ts']],
  ['worker', 'build', builds],
  ['worker', '', ['worker.ts', 'platform/workflow-vm.ts', 'platform/replay-process.ts']],
])('image %s, stage "%s"', (image, stage, programs) => {
  it('has the sources of its programs', async () => {
    const copied = copiedIn(stageOf(readFileSync(join(root, `ops/Dockerfile.${image}`), 'utf8'), stage));
    const sources = await sourcesOf(programs);
    expect(sources.length).toBeGreaterThan(programs.length);
    expect(sources.filter((source) => !copied.some((path) => `${source}/`.startsWith(`${path}/`)))).toEqual([]);
  });
});

/** The lines of a stage; the last one has no name. */
function stageOf(text: string, name: string): string {
  const stages = text.split(/^FROM \S+/m).slice(1);
  const found = stages.find((stage) => stage.startsWith(name === '' ? '\n' : ` AS ${name}\n`));
  if (found === undefined) throw new Error(`no stage "${name}"`);
  return found;
}

/** The paths that a stage copies from the repository, to the same places. */
const copiedIn = (stage: string): string[] =>
  [...stage.matchAll(/^COPY (?!--)(.+) \S+$/gm)].flatMap(([, paths = '']) => paths.split(' '));

/** Every file of the repository that runs with these programs: imports of types alone are left out. */
async function sourcesOf(programs: readonly string[]): Promise<string[]> {
  const { metafile } = await build({
    entryPoints: [...programs],
    absWorkingDir: root,
    outdir: 'out',
    write: false,
    bundle: true,
    metafile: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    jsx: 'automatic',
    logLevel: 'silent',
  });
  return Object.keys(metafile.inputs);
}
