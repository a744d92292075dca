// Which folders of domain/ a mutation run covers. All of domain/ takes several times the eight minutes that `test:all` has for
// it on two cores, so each day has its own part, and shardCount days cover everything. A folder is never divided, because its
// threshold holds for the whole of it.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export const shardCount = 5;

/** The part of a day. All runs of the same day (UTC) have the same part. */
export const shardOfDay = (nowMs: number): number => Math.floor(nowMs / 86_400_000) % shardCount;

/** Paths of the shard's files, from the repository's top. The largest folders first, each to the shard that has least. */
export function filesOfShard(root: string, shard: number): string[] {
  const shards = Array.from({ length: shardCount }, (): { lines: number; files: string[] } => ({
    lines: 0,
    files: [],
  }));
  const folders = Map.groupBy(domainFiles(root), dirname);
  const sizes = [...folders].map(([folder, files]) => ({ folder, files, lines: linesOf(root, files) }));
  for (const { files, lines } of sizes.toSorted((a, b) => b.lines - a.lines || a.folder.localeCompare(b.folder))) {
    const smallest = shards.reduce((least, each) => (each.lines < least.lines ? each : least));
    smallest.lines += lines;
    smallest.files.push(...files);
  }
  return shards[shard]?.files ?? [];
}

export function domainFiles(root: string): string[] {
  return readdirSync(join(root, 'domain'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `domain/${name}`)
    .toSorted();
}

const linesOf = (root: string, files: readonly string[]): number =>
  files.reduce((lines, path) => lines + readFileSync(join(root, path), 'utf8').split('\n').length, 0);
