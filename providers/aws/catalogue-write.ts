// Writes catalogue.json, the dated table of EC2 instance types for control planes without AWS credentials, from moto's copy of
// DescribeInstanceTypes (Apache-2.0; `moto/ec2/resources/instance_types.json.gz` of its wheel, with the date of the file).
// `node providers/aws/catalogue-write.ts instance_types.json.gz 2026-10-27`
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

const [, , typesPath, asOf] = process.argv;
if (typesPath === undefined || asOf === undefined) {
  process.stderr.write('usage: node providers/aws/catalogue-write.ts instance_types.json.gz DATE\n');
  process.exit(2);
}
const types: Record<string, TypeInfo> = JSON.parse(String(await promisify(gunzip)(await readFile(typesPath))));

const rows = Object.entries(types)
  .filter(([, info]) => info.BareMetal !== true)
  .sort(([a], [b]) => (a < b ? -1 : 1))
  .map(([name, info]) => {
    const gpus = info.GpuInfo?.Gpus ?? [];
    const row = [
      info.VCpuInfo?.DefaultVCpus ?? 0,
      info.MemoryInfo?.SizeInMiB ?? 0,
      info.ProcessorInfo?.SupportedArchitectures?.includes('arm64') === true ? 'arm64' : 'x86_64',
      gpus.reduce((sum, gpu) => sum + (gpu.Count ?? 0), 0),
      gpus[0]?.Name ?? null,
    ];
    return `    ${JSON.stringify(name)}: ${JSON.stringify(row)}`;
  });
const head = {
  asOf,
  source: 'getmoto/moto, Apache-2.0',
  columns: ['vcpus', 'memoryMib', 'architecture', 'gpus', 'gpuName'],
};
const text = `${JSON.stringify(head, null, 2).slice(0, -2)},\n  "types": {\n${rows.join(',\n')}\n  }\n}\n`;
await writeFile(new URL('catalogue.json', import.meta.url), text);
process.stdout.write(`${rows.length} types of ${asOf}\n`);
