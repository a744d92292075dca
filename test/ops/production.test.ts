// The parts that production runs: the built files, the images' recipes, the board, and their description in the operation
// document. The recipe of an image is carried out here without its image: its files are copied, and the program is started.
import { spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterEach, describe, expect, it } from 'vitest';

import { buildProduction } from '../../ops/build.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string): Promise<string> => readFile(join(repository, path), 'utf8');

describe.each(['api', 'worker'])('the image of the %s', (name) => {
  const made: string[] = [];
  afterEach(async () => {
    for (const path of made.splice(0)) await rm(path, { recursive: true, force: true });
  });

  it('is built in stages from a pinned base, runs as an unprivileged user, and ends by SIGTERM', async () => {
    const recipe = await read(`ops/Dockerfile.${name}`);
    const bases = [...recipe.matchAll(/^FROM (\S+)/gm)].map((match) => match[1]);
    expect(bases.length).toBeGreaterThanOrEqual(2);
    // The Node version of all tests.
    const tested = /"node": "(24\.[\d.]+)"/.exec(await read('package.json'))?.[1];
    for (const base of bases) expect(base).toBe(`node:${tested}-bookworm-slim`);
    const lines = recipe.split('\n');
    expect(lines.lastIndexOf('USER node')).toBeGreaterThan(lines.findLastIndex((line) => line.startsWith('COPY')));
    expect(recipe).toContain('STOPSIGNAL SIGTERM');
    // The program itself gets the signal: no shell and no npm is in between.
    expect(recipe).toMatch(/^CMD \["node", ("--[^"]+", |"\.\/[^"]+\.ts", )*"[a-z/]+\.ts"\]$/m);
    expect(recipe).not.toMatch(/^(ARG|ENV) .*(TOKEN|SECRET|PASSWORD|KEY)/m);
  });

  it('has every file that its program needs: started from what is copied, it complains about its environment only', async () => {
    const recipe = await read(`ops/Dockerfile.${name}`);
    const allowed = (await read(`ops/Dockerfile.${name}.dockerignore`))
      .split('\n')
      .flatMap((line) => line.match(/^!(.+)/)?.[1] ?? []);
    // Below the repository, where its packages are found.
    await mkdir(join(repository, 'dist'), { recursive: true });
    const root = await mkdtemp(join(repository, 'dist', `image-${name}-`));
    made.push(root);
    const sourcesOf = (stages: string): string[] =>
      [...stages.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap((match) => (match[1] ?? '').split(' '));
    for (const source of sourcesOf(recipe)) {
      expect([source, allowed]).toEqual([source, expect.arrayContaining([source])]);
    }
    for (const source of sourcesOf(recipe.slice(recipe.lastIndexOf('\nFROM')))) {
      await mkdir(dirname(join(root, source)), { recursive: true });
      await cp(join(repository, source), join(root, source), { recursive: true });
    }
    const words = /^CMD \["node", (.+)\]$/m.exec(recipe)?.[1] ?? '';
    const { scripts } = JSON.parse(await read('package.json')) as { scripts: Record<string, string> };
    expect(`node ${words.replaceAll('", "', ' ').slice(1, -1)}`).toBe(scripts[name]);
    const { code, text } = await run(
      words.split(', ').map((word) => word.slice(1, -1)),
      root,
    );
    expect([code, text]).toEqual([2, expect.stringContaining('its environment has problems')]);
    expect(text).toContain('ROPEWALK_HOST_ID');
  });
});

describe('npm run build', () => {
  it('makes the two files that a Temporal worker is given', async () => {
    const out = await mkdtemp(join(tmpdir(), 'ropewalk-build-'));
    try {
      const { agent, workflows } = await buildProduction(out);
      expect(await readFile(agent, 'utf8')).toContain('ROPEWALK_INSTANCE');
      const code = await readFile(workflows, 'utf8');
      expect(code.length).toBeGreaterThan(100_000);
      expect(code).not.toContain('_tracer-data');
    } finally {
      await rm(out, { recursive: true, force: true });
    }
  }, 60_000);
});

describe('docs/operations.md', () => {
  it('names every variable that the programs read, and every alert has its metric', async () => {
    const text = await read('docs/operations.md');
    const settings = `${await read('api/settings.ts')}\n${await read('platform/worker-settings.ts')}`;
    const variables = new Set(settings.match(/\b(?:ROPEWALK|OTEL)_[A-Z_]+\b/g));
    expect(variables.size).toBeGreaterThan(10);
    for (const variable of variables) expect(text).toContain(`\`${variable}\``);
    const alerts = await read('ops/prometheus/alerts.yml');
    const namesIn = (source: string, pattern: RegExp) =>
      [...source.matchAll(pattern)].map((match) => match[1] ?? '').toSorted((a, b) => a.localeCompare(b));
    expect(namesIn(text, /^\| (Ropewalk\w+) \|/gm)).toEqual(namesIn(alerts, /- alert: (\w+)/g));
    const board = `${await read('ops/grafana/ropewalk.json')}\n${alerts}`;
    const metrics = new Set(text.match(/\b(?:ropewalk|temporal|nodejs|process)_[a-z0-9_]*[a-z0-9]\b/g));
    // test/integration/observability.test.ts shows on a real stack that the board's metrics exist.
    for (const metric of metrics) expect(board).toContain(metric);
  });
});

/** Ends by itself: its environment is empty. */
async function run(words: string[], cwd: string): Promise<{ code: number | null; text: string }> {
  const child = spawn(process.execPath, words, { cwd, env: {}, stdio: ['ignore', 'ignore', 'pipe'], timeout: 60_000 });
  let text = '';
  child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, text };
}
