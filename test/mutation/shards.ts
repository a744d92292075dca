// The files of domain/ that a mutation run covers. All of domain/ takes many times the eight minutes that `test:all` has for it on
// two cores: each day has its own part, and shardCount days cover all folders with a measured threshold. A folder's threshold
// holds for each of its pieces. The other folders are mutated by hand, with `--all` or `--files`: each mutant of domain/cluster
// runs most of the simulations, which takes more than an hour.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { thresholds } from './thresholds.ts';

export const shardCount = 5;
/** A larger folder is mutated in pieces, on different days. */
const maxPieceLines = 1_100;

/** The part of a day. All runs of the same day (UTC) have the same part. */
export const shardOfDay = (nowMs: number): number => Math.floor(nowMs / 86_400_000) % shardCount;

interface Part {
  lines: number;
  files: string[];
}

/** Paths of the shard's files, from the repository's top. The largest pieces first, each to the smallest shard. */
export function filesOfShard(root: string, shard: number): string[] {
  const files = domainFiles(root).filter((path) => isMeasured(dirname(path)));
  const folders = Map.groupBy(files, dirname).values();
  const pieces = [...folders].flatMap((own) => divide(root, own, Math.ceil(linesOf(root, own) / maxPieceLines)));
  return divideParts(pieces, shardCount)[shard]?.files ?? [];
}

const divide = (root: string, files: readonly string[], count: number): Part[] =>
  divideParts(
    files.map((path) => ({ lines: linesOf(root, [path]), files: [path] })),
    count,
  );

function divideParts(parts: readonly Part[], count: number): Part[] {
  const wholes = Array.from({ length: count }, (): Part => ({ lines: 0, files: [] }));
  for (const { lines, files } of parts.toSorted((a, b) => b.lines - a.lines)) {
    const smallest = wholes.reduce((least, each) => (each.lines < least.lines ? each : least));
    smallest.lines += lines;
    smallest.files.push(...files);
  }
  return wholes;
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
