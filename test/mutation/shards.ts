// Which files of domain/ a mutation run covers. All of it takes about shardCount times the eight minutes that `test:all` has
// for it on two cores, so each day has its own part, and shardCount days cover everything.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const shardCount = 6;

/** The part of a day. Everybody who runs the tests on the same day (UTC) runs the same part. */
export const shardOfDay = (nowMs: number): number => Math.floor(nowMs / 86_400_000) % shardCount;

/** Paths of the shard's files, from the repository's top. The largest files first, each to the shard that has least. */
export function filesOfShard(root: string, shard: number): string[] {
  const shards = Array.from({ length: shardCount }, () => ({ lines: 0, files: [] as string[] }));
  const sizes = domainFiles(root).map((path) => ({ path, lines: linesOf(join(root, path)) }));
  for (const { path, lines } of sizes.toSorted((a, b) => b.lines - a.lines || a.path.localeCompare(b.path))) {
    const smallest = shards.reduce((least, each) => (each.lines < least.lines ? each : least));
    smallest.lines += lines;
    smallest.files.push(path);
  }
  return shards[shard]?.files.toSorted() ?? [];
}

export function domainFiles(root: string): string[] {
  return readdirSync(join(root, 'domain'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `domain/${name}`)
    .toSorted();
}

const linesOf = (path: string): number => readFileSync(path, 'utf8').split('\n').length;
