// An instance type as cells of a table row.
import type { Plan } from '../sdk/client.ts';
import type { Column } from './table.ts';

const left = (title: string): Column => ({ title, align: 'left' });
const right = (title: string): Column => ({ title, align: 'right' });

export const typeColumns: Column[] = [
  ...[left('type'), right('vCPU'), right('memory'), left('GPU'), left('processor')],
  ...[right('$/h'), right('$/h spot'), left('zones')],
];

export const typeCells = (type: Plan['head']['types'][number]): string[] => [
  type.type,
  String(type.vcpus),
  `${(type.memoryBytes / 2 ** 30).toFixed(1)} GiB`,
  type.gpus === 0 ? '' : `${type.gpus} ${type.gpuName ?? ''}`.trim(),
  type.architecture,
  price(type.pricePerHour),
  price(type.spotPricePerHour),
  type.zones.join(', '),
];

const price = (dollars: number | null): string => (dollars === null ? '-' : dollars.toFixed(4));
