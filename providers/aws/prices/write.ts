// Writes providers/aws/prices.json, the dated table of EC2's prices on demand by region.
//
//   node providers/aws/prices/write.ts aws [REGION...]
//     from AWS's public price list: some hundred megabytes for each region, no credentials
//   node providers/aws/prices/write.ts files GO... LIBCLOUD DATE
//     from Karpenter's zz_generated.pricing_*.go (us-east-1 and GovCloud, exact) and libcloud/data/pricing.json of Apache
//     Libcloud with its date (other regions, derived: derive.ts), for machines that do not reach AWS; both are Apache-2.0
import { readFile, writeFile } from 'node:fs/promises';

import { derivePrices } from './derive.ts';
import { readPriceList, type RegionPrices } from './price-list.ts';

const host = 'https://pricing.us-east-1.amazonaws.com';
const [, , mode, ...given] = process.argv;
if (mode === 'aws') await write(await fromAws(given));
else if (mode === 'files' && given.length >= 3) await write(await fromFiles(given));
else {
  process.stderr.write('usage: node providers/aws/prices/write.ts aws [REGION...] | files GO... LIBCLOUD DATE\n');
  process.exit(2);
}

async function fromAws(wanted: readonly string[]): Promise<Map<string, RegionPrices>> {
  const index = await fetch(`${host}/offers/v1.0/aws/AmazonEC2/current/region_index.json`);
  const { regions }: { regions: Record<string, { currentVersionUrl: string }> } = JSON.parse(await index.text());
  const found = new Map<string, RegionPrices>();
  for (const [region, { currentVersionUrl }] of Object.entries(regions)) {
    // Local and wavelength zones have longer names; our subnets are not in them.
    if (!/^[a-z]+(-[a-z]+)+-\d$/.test(region) || (wanted.length > 0 && !wanted.includes(region))) continue;
    const response = await fetch(`${host}${currentVersionUrl.replace(/index\.json$/, 'index.csv')}`);
    if (!response.ok || response.body === null) throw new Error(`${response.url}: ${response.status}`);
    const prices = await readPriceList(linesOf(response.body));
    found.set(region, prices);
    process.stdout.write(`${region}: ${prices.prices.size} types, ${prices.asOf}\n`);
  }
  return found;
}

/** The file ends with a line break and has none within cells. */
async function* linesOf(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  let rest = '';
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split(/\r?\n/);
    rest = lines.pop() ?? '';
    yield* lines;
  }
}

async function fromFiles(paths: readonly string[]): Promise<Map<string, RegionPrices>> {
  const [libcloud = '', asOf = ''] = paths.slice(-2);
  const found = new Map<string, RegionPrices>();
  for (const path of paths.slice(0, -2)) {
    for (const [region, prices] of await readKarpenter(path)) found.set(region, prices);
  }
  const exact = found.get('us-east-1');
  if (exact === undefined) throw new Error('No file has the prices of us-east-1.');
  const table: { compute: { ec2_linux: Record<string, Record<string, number>> } } = JSON.parse(
    await readFile(libcloud, 'utf8'),
  );
  const byType = Object.entries(table.compute.ec2_linux);
  const regions = [...new Set(byType.flatMap(([, each]) => Object.keys(each)))].filter((name) => /-\d$/.test(name));
  const source = `derived from the prices of us-east-1 (${exact.asOf}) and Apache Libcloud's table`;
  for (const region of regions.filter((name) => !found.has(name) && !/-\d-/.test(name)).toSorted()) {
    const listed = new Map(
      byType.flatMap(([type, each]) => (each[region] === undefined ? [] : [[type, each[region]]])),
    );
    found.set(region, { asOf, source, prices: derivePrices(exact.prices, listed) });
  }
  return found;
}

async function readKarpenter(path: string): Promise<Map<string, RegionPrices>> {
  const text = await readFile(path, 'utf8');
  const asOf = /generated at (\d{4}-\d\d-\d\d)/.exec(text)?.[1] ?? '';
  const found = new Map<string, RegionPrices>();
  for (const part of text.split(/(?="[a-z]+(?:-[a-z]+)+-\d": \{)/)) {
    const region = /^"([a-z0-9-]+)": \{/.exec(part)?.[1];
    if (region === undefined) continue;
    const pairs = [...part.matchAll(/"([a-z0-9-]+\.[a-z0-9-]+)":\s*([0-9.]+)/g)];
    const prices = new Map(pairs.map(([, type = '', dollars]) => [type, Number(dollars)]));
    found.set(region, { asOf, source: "Karpenter's table of AWS's price list", prices });
  }
  return found;
}

async function write(found: ReadonlyMap<string, RegionPrices>): Promise<void> {
  const regions = [...found];
  const types = [...new Set(regions.flatMap(([, { prices }]) => [...prices.keys()]))]
    .filter((type) => !type.includes('.metal'))
    .toSorted();
  const rows = types.map((type) => {
    const cells = regions.map(([, { prices }]) => prices.get(type) ?? null);
    return `    ${JSON.stringify(type)}: ${JSON.stringify(cells)}`;
  });
  const heads = regions.map(([region, { asOf, source }]) => `    ${JSON.stringify([region, asOf, source])}`);
  const text = `{\n  "regions": [\n${heads.join(',\n')}\n  ],\n  "types": {\n${rows.join(',\n')}\n  }\n}\n`;
  await writeFile(new URL('../prices.json', import.meta.url), text);
  process.stdout.write(`${types.length} types in ${regions.length} regions\n`);
}
