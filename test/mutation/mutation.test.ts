// The mutation tests' own rules: every file of domain/ has its day, and every mutant counts.
import { dirname, join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { percent, scoresByFolder } from './report.ts';
import { domainFiles, filesOfShard, isMeasured, shardCount, shardOfDay } from './shards.ts';

const root = join(import.meta.dirname, '../..');
const mutant = (status: string) => ({ mutatorName: 'EqualityOperator', status, location: { start: { line: 7 } } });

describe('the parts of a mutation run', () => {
  it('cover each file of the folders with a measured threshold once', () => {
    const files = Array.from({ length: shardCount }, (_, shard) => filesOfShard(root, shard)).flat();
    expect(files.toSorted()).toEqual(domainFiles(root).filter((path) => isMeasured(dirname(path))));
    expect(files).toContain('domain/job/exchange.ts');
    expect(files.some((path) => path.startsWith('domain/cluster/'))).toBe(false);
  });

  it('follow each other day by day', () => {
    const days = Array.from({ length: 2 * shardCount }, (_, day) => shardOfDay(day * 86_400_000 + 5));
    expect(days.slice(0, shardCount).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: shardCount }, (_, shard) => shard),
    );
    expect(days.slice(shardCount)).toEqual(days.slice(0, shardCount));
  });
});

describe('a mutation score', () => {
  it('counts killed and timed-out mutants against those that survived or have no test', () => {
    const statuses = ['Killed', 'Timeout', 'Survived', 'NoCoverage', 'Ignored', 'CompileError'];
    const [score, ...others] = scoresByFolder({ files: { 'domain/job/a/b.ts': { mutants: statuses.map(mutant) } } });
    expect(others).toEqual([]);
    expect(score).toMatchObject({ folder: 'domain/job/a', noticed: 2, total: 4 });
    expect(score?.survivors).toEqual([
      'domain/job/a/b.ts:7 EqualityOperator -> ',
      'domain/job/a/b.ts:7 EqualityOperator -> ',
    ]);
    expect(score === undefined ? 0 : percent(score)).toBe(50);
  });
});
