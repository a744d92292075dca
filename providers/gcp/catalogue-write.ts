// Writes catalogue.json, the dated table of machine types and prices, from two files of other projects, both Apache-2.0: the
// machine types of Cyclenerd/google-cloud-pricing-cost-calculator (tools/machinetypes.csv), and the prices by region of
// cloudpilot-ai/karpenter-provider-gcp (pkg/providers/pricing/initial-prices.json). Google's pricing API requires an API key.
// `node providers/gcp/catalogue-write.ts machinetypes.csv initial-prices.json 2026-08-03`
import { readFile, writeFile } from 'node:fs/promises';

interface Prices {
  prices: Record<string, { on_demand: Record<string, number>; spot: Record<string, number> }>;
}

const [, , typesPath, pricesPath, asOf] = process.argv;
if (typesPath === undefined || pricesPath === undefined || asOf === undefined) {
  process.stderr.write('usage: node providers/gcp/catalogue-write.ts machinetypes.csv initial-prices.json DATE\n');
  process.exit(2);
}
const families = /^(e2|n1|n2|n2d|n4|c2|c2d|c3|c3d|c4|c4d|c4a|t2a|t2d|g2|a2)-/;
/** The type's own GPUs, from the end of its name. */
const a2Gpus = (name: string): number => Number(/-(\d+)g$/.exec(name)?.[1] ?? 0);
const g2Gpus: Record<string, number> = { '24': 2, '48': 4, '96': 8 };

const { prices }: Prices = JSON.parse(await readFile(pricesPath, 'utf8'));
const rows = (await readFile(typesPath, 'utf8'))
  .split('\n')
  .slice(1)
  .map((line) => line.split(';'))
  .filter(
    ([name = '']) =>
      families.test(name) && !/lssd|metal/.test(name) && prices['us-central1']?.on_demand[name] !== undefined,
  )
  .toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1));
const names = rows.map(([name = '']) => name);
const types = rows.map(([name = '', cpus, , memoryGb]) => {
  const [gpus, gpuName] = name.startsWith('g2-')
    ? [g2Gpus[name.split('-').at(-1) ?? ''] ?? 1, 'L4']
    : name.startsWith('a2-')
      ? [a2Gpus(name), name.includes('ultra') ? 'A100-80GB' : 'A100']
      : [0, null];
  const architecture = /^(t2a|c4a)-/.test(name) ? 'arm64' : 'x86_64';
  return `    ${JSON.stringify(name)}: ${JSON.stringify([Number(cpus), Math.round(Number(memoryGb) * 1024), architecture, gpus, gpuName])}`;
});
const rounded = (price: number | undefined): number | null =>
  price === undefined || price <= 0 ? null : Math.round(price * 10_000) / 10_000;
const regions = Object.entries(prices).map(([region, { on_demand: onDemand, spot }]) => {
  const columns = [onDemand, spot].map((of) => names.map((name) => rounded(of[name])));
  return `    ${JSON.stringify(region)}: ${JSON.stringify(columns)}`;
});
const head = {
  pricesAsOf: asOf,
  sources:
    'Cyclenerd/google-cloud-pricing-cost-calculator (machine types), cloudpilot-ai/karpenter-provider-gcp (prices), kubernetes/autoscaler (attached GPUs), all Apache-2.0',
  columns: ['vcpus', 'memoryMib', 'architecture', 'gpus', 'gpuName'],
  regionColumns: ['onDemand', 'spot'],
};
const text = `${JSON.stringify(head, null, 2).slice(0, -2)},\n  "types": {\n${types.join(',\n')}\n  },\n  "regions": {\n${regions.join(',\n')}\n  }\n}\n`;
await writeFile(new URL('catalogue.json', import.meta.url), text);
process.stdout.write(`${names.length} types in ${regions.length} regions, prices of ${asOf}\n`);
