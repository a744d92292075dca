// The folders of domain/ that a mutation run covers. All of domain/ takes several times the eight minutes that `test:all` has for
// it on two cores: each day has its own part, and shardCount days cover all folders with a measured threshold. A folder is never
// divided, because its threshold holds for the whole of it. The others are mutated by hand, with `--all` or `--files`: each
// mutant of domain/cluster runs most of the simulations, which takes more than an hour.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { thresholds } from './thresholds.ts';

export const shardCount = 3;

/** The part of a day. All runs of the same day (UTC) have the same part. */
export const shardOfDay = (nowMs: number): number => Math.floor(nowMs / 86_400_000) % shardCount;

/** Paths of the shard's files, from the repository's top. The largest folders first, each to the smallest shard. */
export function filesOfShard(root: string, shard: number): string[] {
  const shards = Array.from({ length: shardCount }, (): { lines: number; files: string[] } => ({
    lines: 0,
    files: [],
  }));
  const files = domainFiles(root).filter((path) => isMeasured(dirname(path)));
  const folders = Map.groupBy(files, dirname);
  const sizes = [...folders].map(([folder, own]) => ({ folder, own, lines: linesOf(root, own) }));
  for (const { own, lines } of sizes.toSorted((a, b) => b.lines - a.lines || a.folder.localeCompare(b.folder))) {
    const smallest = shards.reduce((least, each) => (each.lines < least.lines ? each : least));
    smallest.lines += lines;
    smallest.files.push(...own);
  }
  return shards[shard]?.files ?? [];
}

export const isMeasured = (folder: string): boolean => Object.hasOwn(thresholds, folder);

export function domainFiles(root: string): string[] {
  return readdirSync(join(root, 'domain'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `domain/${name}`)
    .toSorted();
}

const linesOf = (root: string, files: readonly string[]): number =>
  files.reduce((lines, path) => lines + readFileSync(join(root, path), 'utf8').split('\n').length, 0);
