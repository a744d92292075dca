// A Cost and Usage report (CUR 2.0) made from the emulated cloud's own ledger, compared with the cost ledger: the same to the
// cent, and differences are found.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import { afterEach, beforeEach, expect, it } from 'vitest';

import { compareFiles } from '../../ops/bill/bill.ts';
import { openMemoryStore } from '../../store/open.ts';
import type { Store } from '../../store/store.ts';
import { viewCluster } from '../../views/cluster.ts';
import type { LedgerEntry } from '../emulator/ledger.ts';
import { instanceTypes, priceOf } from '../emulator/types.ts';
import { ec2 } from '../support/clouds.ts';
import { startCloud, type TestCloud } from '../providers/aws-cloud.ts';
import { addWorkspace } from '../store/fixtures.ts';
import { createEc2Cluster } from './cluster.ts';

const hourMs = 3_600_000;
let cloud: TestCloud;
let store: Store;
let directory: string;
beforeEach(async () => {
  cloud = await startCloud();
  store = await openMemoryStore();
  await store.deployment.claim('d_test', 1);
  directory = await mkdtemp(join(tmpdir(), 'ropewalk-bill-'));
});
afterEach(async () => {
  await store.close();
  await cloud.close();
  await rm(directory, { recursive: true, force: true });
});

const columns = [
  ...['identity_line_item_id', 'line_item_line_item_type', 'line_item_usage_start_date', 'line_item_usage_end_date'],
  ...[
    'line_item_usage_type',
    'line_item_resource_id',
    'line_item_unblended_cost',
    'reservation_effective_cost',
    'resource_tags',
  ],
] as const;
type Line = Partial<Record<(typeof columns)[number], string>>;

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
const csv = (lines: readonly Line[]): string =>
  [columns.join(','), ...lines.map((line) => columns.map((column) => quoted(line[column] ?? '')).join(','))].join(
    '\r\n',
  );

/** As AWS writes a key of a tag. */
const tagsOf = (tags: Record<string, string>): string =>
  JSON.stringify(
    Object.fromEntries(Object.entries(tags).map(([key, value]) => [`user_${key.replaceAll(':', '_')}`, value])),
  );

/** Lines for each hour in which the instance existed: its share of the price, and its address's. */
function hourly(entries: readonly LedgerEntry[]): Line[] {
  return entries
    .filter(({ event }) => event === 'launched')
    .flatMap(({ id, atMs, type, market, tags, hasPublicIp }) => {
      const known = instanceTypes.get(type);
      const endMs = entries.find((each) => each.event === 'ended' && each.id === id)?.atMs ?? atMs;
      if (known === undefined) throw new Error(`no type ${type}`);
      const billedMs = Math.max(endMs - atMs, 60_000);
      const lines: Line[] = [];
      for (let hour = atMs - (atMs % hourMs); hour < atMs + billedMs; hour += hourMs) {
        const ms = Math.min(hour + hourMs, atMs + billedMs) - Math.max(hour, atMs);
        const common: Line = {
          ...{ identity_line_item_id: `${id}-${hour}`, line_item_line_item_type: 'Usage', line_item_resource_id: id },
          line_item_usage_start_date: new Date(hour).toISOString(),
          line_item_usage_end_date: new Date(hour + hourMs).toISOString(),
          resource_tags: tagsOf(tags),
        };
        lines.push({
          ...common,
          line_item_usage_type: `${market === 'spot' ? 'SpotUsage' : 'USE2-BoxUsage'}:${type}`,
          line_item_unblended_cost: String((ms / hourMs) * priceOf(known, market === 'spot' ? 'spot' : 'on-demand')),
        });
        // Its resource is the network interface, which has the tags of its instance.
        if (hasPublicIp) {
          lines.push({
            ...common,
            line_item_resource_id: `arn:aws:ec2:us-east-1:123456789012:network-interface/eni-${id}`,
            line_item_usage_type: 'USE1-PublicIPv4:InUseAddress',
            line_item_unblended_cost: String((ms / hourMs) * ec2.addressPriceOf('on-demand')),
          });
        }
      }
      return lines;
    });
}

it('is the ledger to the cent; lines of others are left out, and what is missing or more is the difference', async () => {
  const workspace = (await addWorkspace(store)).slug;
  const cluster = createEc2Cluster(cloud, {
    instances: 3,
    launched: (each, fresh) => fresh.forEach((one) => each.register(one)),
    watch: async (each) => {
      const { state } = each;
      const view = { ...viewCluster(state, inputOf(state.number)), workspace, endedAtMs: null };
      await store.clusters.project({ view, version: state.projection.version + 1, nowMs: each.nowMs() });
    },
  });
  await cluster.settle();
  await cluster.advance(1_000 * 5_000);
  await cluster.settle();
  await cluster.stop();
  const { entries } = await cloud.emulator.ledger();
  const lines = hourly(entries);
  const [first] = lines;
  const others: Line[] = [
    { ...first, resource_tags: tagsOf({ 'ropewalk:deployment': 'd_other', 'ropewalk:cluster': '1' }) },
    { ...first, resource_tags: '' },
    { ...first, line_item_line_item_type: 'Tax', line_item_unblended_cost: '99' },
  ];
  await writeFile(join(directory, 'a.csv.gz'), gzipSync(csv([...lines.slice(0, 2), ...others])));
  await writeFile(join(directory, 'b.csv'), csv(lines.slice(2)));
  const files = ['a.csv.gz', 'b.csv'].map((name) => join(directory, name));
  const cents = (micros = Number.NaN): number => Math.round(micros / 10_000);
  const { total, clusters } = await compareFiles(store, files);
  expect(clusters.map((each) => each.cluster)).toEqual([cluster.state.number]);
  expect(total.billed.instances).toBeGreaterThan(0);
  expect(cents(total.billed.instances)).toBe(cents(total.ledger.instances));
  expect(total.billed.addresses).toBeGreaterThan(0);
  expect(cents(total.billed.addresses)).toBe(cents(total.ledger.addresses));
  // The bill has no line of a disk here.
  expect(total.difference).toBeCloseTo(
    total.billed.instances +
      total.billed.addresses -
      total.ledger.instances -
      total.ledger.addresses -
      total.ledger.disks,
    3,
  );

  const reserved = { ...first, line_item_line_item_type: 'DiscountedUsage', line_item_unblended_cost: '0' };
  const more: Line[] = [
    { ...reserved, reservation_effective_cost: '0.5' },
    { ...first, line_item_usage_type: 'EBS:VolumeUsage.gp3', line_item_unblended_cost: '0.25' },
    { ...first, line_item_usage_type: 'DataTransfer-Out-Bytes', line_item_unblended_cost: '2' },
  ];
  await writeFile(join(directory, 'c.csv'), csv(more));
  const changed = await compareFiles(store, [...files, join(directory, 'c.csv')]);
  expect(changed.total.billed.instances - total.billed.instances).toBeCloseTo(500_000, 3);
  expect(changed.total.billed).toMatchObject({ disks: 250_000, other: 2_000_000 });
  expect(changed.total.difference - total.difference).toBeCloseTo(2_750_000, 3);
});

it('says of a file that is no report, or is not there, what is wrong', async () => {
  const path = join(directory, 'x.csv');
  await writeFile(path, 'a,b\n1,2\n');
  await expect(compareFiles(store, [path])).rejects.toThrow('has no column line_item_line_item_type');
  await expect(compareFiles(store, [join(directory, 'none.csv.gz')])).rejects.toThrow('cannot be read');
  await writeFile(path, 'a,b\n1,2,3\n');
  await expect(compareFiles(store, [path])).rejects.toThrow('cannot be read: Invalid Record Length');
});

const inputOf = (number: number) => ({
  ...{ number, workspace: 'default', admissionId: 'a', user: 'u', deploymentId: 'd_test' },
  ...{ settings: null, specRef: null, name: 'c' },
});
