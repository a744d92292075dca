// Writes catalogue.json, the dated table of EC2 instance types for control planes without AWS credentials, from two files of
// other projects, both Apache-2.0: moto's answer of DescribeInstanceTypes, and Karpenter's price table (us-east-1, Linux, on
// demand). `node providers/aws/catalogue-write.ts instance_types.json.gz zz_generated.pricing_aws.go`
import { readFile, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

interface TypeInfo {
  BareMetal?: boolean;
  VCpuInfo?: { DefaultVCpus?: number };
  MemoryInfo?: { SizeInMiB?: number };
  ProcessorInfo?: { SupportedArchitectures?: string[] };
  GpuInfo?: { Gpus?: { Count?: number; Name?: string; Manufacturer?: string }[] };
  SupportedUsageClasses?: string[];
}

const [, , typesPath, pricesPath] = process.argv;
if (typesPath === undefined || pricesPath === undefined) {
  process.stderr.write(
    'usage: node providers/aws/catalogue-write.ts instance_types.json.gz zz_generated.pricing_aws.go\n',
  );
  process.exit(2);
}
const types: Record<string, TypeInfo> = JSON.parse(String(await promisify(gunzip)(await readFile(typesPath))));
const go = await readFile(pricesPath, 'utf8');
const asOf = /generated at (\d{4}-\d{2}-\d{2})/.exec(go)?.[1];
const prices = new Map(
  [...go.matchAll(/"([a-z0-9-]+\.[a-z0-9-]+)": ([0-9.]+)/g)].map(([, name, price]) => [name, Number(price)]),
);

const rows = Object.entries(types)
  .filter(([name, info]) => info.BareMetal !== true && prices.has(name))
  .sort(([a], [b]) => (a < b ? -1 : 1))
  .map(([name, info]) => {
    const gpus = info.GpuInfo?.Gpus ?? [];
    const row = [
      info.VCpuInfo?.DefaultVCpus ?? 0,
      info.MemoryInfo?.SizeInMiB ?? 0,
      info.ProcessorInfo?.SupportedArchitectures?.includes('arm64') === true ? 'arm64' : 'x86_64',
      gpus.reduce((sum, gpu) => sum + (gpu.Count ?? 0), 0),
      gpus[0]?.Name ?? null,
      prices.get(name),
    ];
    return `    ${JSON.stringify(name)}: ${JSON.stringify(row)}`;
  });
const head = {
  pricesAsOf: asOf,
  region: 'us-east-1',
  sources: 'getmoto/moto (instance types) and aws/karpenter-provider-aws (prices), both Apache-2.0',
  columns: ['vcpus', 'memoryMib', 'architecture', 'gpus', 'gpuName', 'pricePerHour'],
};
const text = `${JSON.stringify(head, null, 2).slice(0, -2)},\n  "types": {\n${rows.join(',\n')}\n  }\n}\n`;
await writeFile(new URL('catalogue.json', import.meta.url), text);
process.stdout.write(`${rows.length} types, prices of ${asOf}\n`);
