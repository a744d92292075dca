// `ropewalk bill` reads reports in Parquet, as Data Exports writes them by default. Another program made the files (parquet/make.py).
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { compareFiles } from '../../ops/bill/bill.ts';
import { isCurColumn } from '../../ops/bill/cur.ts';
import { readParquet } from '../../ops/bill/parquet.ts';
import { openMemoryStore } from '../../store/open.ts';
import type { Store } from '../../store/store.ts';

const pathOf = (name: string): string => join(import.meta.dirname, 'parquet', `cur-${name}.parquet`);
const hourMs = 3_600_000;
const sinceMs = Date.parse('2026-11-01T00:00:00Z');

describe('a Parquet file', () => {
  let store: Store;
  let directory: string;
  beforeEach(async () => {
    store = await openMemoryStore();
    await store.deployment.claim('d_test', 1);
    directory = await mkdtemp(join(tmpdir(), 'ropewalk-bill-'));
  });
  afterEach(async () => {
    await store.close();
    await rm(directory, { recursive: true, force: true });
  });

  it.each(['snappy', 'gzip', 'zstd'])(
    'of many row groups, with %s, has every line of this deployment',
    async (codec) => {
      const { period, clusters } = await compareFiles(store, [pathOf(codec)]);
      expect(period).toEqual({ fromMs: sinceMs, untilMs: sinceMs + 12 * hourMs });
      const billed = clusters.map((each) => ({ cluster: each.cluster, ...rounded(each.billed) }));
      expect(billed).toEqual([
        { cluster: 7, instances: 1_152_000, disks: 0, addresses: 60_000, other: 0 },
        { cluster: 8, instances: 600_000, disks: 0, addresses: 0, other: 0 },
      ]);
    },
  );

  it('counts beside CSV files, under any name', async () => {
    const renamed = join(directory, 'report-00001');
    await copyFile(pathOf('snappy'), renamed);
    const csv = join(directory, 'a.csv');
    await writeFile(
      csv,
      'line_item_line_item_type,line_item_usage_start_date,line_item_usage_end_date,line_item_usage_type,line_item_unblended_cost,' +
        'resource_tags_user_ropewalk_cluster,resource_tags_user_ropewalk_deployment\n' +
        'Usage,2026-11-02T00:00:00Z,2026-11-02T01:00:00Z,BoxUsage:m6i.large,0.5,9,d_test\n',
    );
    const { clusters } = await compareFiles(store, [renamed, csv]);
    expect(clusters.map(({ cluster }) => cluster)).toEqual([7, 8, 9]);
  });

  it('has only the columns that are needed, as a CSV file has them', async () => {
    const rows = [];
    for await (const row of readParquet(pathOf('gzip'), isCurColumn)) rows.push(Object.fromEntries(row));
    expect(rows).toHaveLength(72);
    expect(rows[0]).toEqual({
      line_item_line_item_type: 'Usage',
      line_item_usage_start_date: '2026-11-01T00:00:00.000Z',
      line_item_usage_end_date: '2026-11-01T01:00:00.000Z',
      line_item_usage_type: 'USE2-BoxUsage:m6i.large',
      line_item_unblended_cost: '0.096',
      reservation_effective_cost: '',
      resource_tags: JSON.stringify({
        ...{ user_ropewalk_cluster: '7', user_ropewalk_deployment: 'd_test', user_team: 'Ärzte "x"' },
      }),
    });
  });

  it('that is cut short cannot be read', async () => {
    const whole = await readFile(pathOf('snappy'));
    const path = join(directory, 'cut.parquet');
    for (const length of [4, 11, 5_000, whole.length - 1]) {
      await writeFile(path, whole.subarray(0, length));
      await expect(compareFiles(store, [path])).rejects.toThrow(`${path} cannot be read: `);
    }
    // A download that lost its middle.
    await writeFile(path, Buffer.concat([whole.subarray(0, 400), whole.subarray(900)]));
    await expect(compareFiles(store, [path])).rejects.toThrow(`${path} cannot be read: `);
  });

  it('with another schema is refused with the name of the column', async () => {
    await expect(compareFiles(store, [pathOf('wrong')])).rejects.toThrow('has no column line_item_unblended_cost');
    const time = `has a line with "${sinceMs}" in its column line_item_usage_start_date`;
    await expect(compareFiles(store, [pathOf('no-time')])).rejects.toThrow(time);
  });
});

const rounded = <K extends string>(of: Record<K, number>) =>
  Object.fromEntries(Object.entries<number>(of).map(([what, micros]) => [what, Math.round(micros)]));
