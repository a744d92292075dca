// Machine options from a script's header or from the request, for a provider with a choice of machines.
import type { BatchHeader } from '../batch-header.ts';
import type { SpotPolicy } from '../cluster/capacity/machine-settings.ts';
import { RopewalkError } from '../errors.ts';
import { parseFlag } from './header-values.ts';

export interface JobMachines {
  vmTypes?: string[] | undefined;
  schedulerVmTypes?: string[] | undefined;
  cpu?: number | [number, number] | undefined;
  memory?: string | [string, string] | undefined;
  gpu?: boolean | number | undefined;
  arm?: boolean | undefined;
  spotPolicy?: SpotPolicy | undefined;
  zone?: string | undefined;
  allowCrossZone?: boolean | undefined;
  diskSize?: string | undefined;
  tags?: Record<string, string> | undefined;
  region?: string | undefined;
  waitForCapacity?: string | undefined;
  allowSsh?: boolean | undefined;
  allowSshFrom?: string | undefined;
  allowIngressFrom?: string | undefined;
  instanceCredentials?: boolean | undefined;
}

/** The options' command-line names. */
export const machineOptions: ReadonlySet<string> = new Set([
  'vm-type',
  'scheduler-vm-type',
  'zone',
  'cpu',
  'memory',
  'gpu',
  'arm',
  'spot-policy',
  'allow-cross-zone',
  'no-cross-zone',
  'disk-size',
  'tag',
  'region',
  'wait-for-capacity',
  'allow-ssh',
  'allow-ssh-from',
  'allow-ingress-from',
  'instance-credentials',
]);

/**
 * Merges the request's options over the header's. The last header line of an option wins, except for types, which are combined.
 *
 * @throws RopewalkError VALIDATION naming the option.
 */
export function readMachineOptions(header: BatchHeader, sent: Readonly<Record<string, string>>): JobMachines {
  const all = [...header.options.map(({ name, value }) => ({ name, value })), ...entries(sent)];
  const machines: JobMachines = {};
  for (const { name, value } of all) {
    switch (name) {
      case 'vm-type':
        machines.vmTypes = [...(machines.vmTypes ?? []), ...listOf(value)];
        break;
      case 'scheduler-vm-type':
        machines.schedulerVmTypes = [...(machines.schedulerVmTypes ?? []), ...listOf(value)];
        break;
      case 'cpu': {
        const [first = '', second] = rangeOf(value);
        machines.cpu = second === undefined ? number(name, first) : [number(name, first), number(name, second)];
        break;
      }
      case 'memory': {
        const [first = '', second] = rangeOf(value);
        machines.memory = second === undefined ? first : [first, second];
        break;
      }
      case 'gpu':
        machines.gpu = flag(name, value);
        break;
      case 'arm':
        machines.arm = flag(name, value);
        break;
      case 'spot-policy':
        machines.spotPolicy = spotPolicy(value);
        break;
      case 'allow-cross-zone':
        machines.allowCrossZone = flag(name, value);
        break;
      case 'no-cross-zone':
        machines.allowCrossZone = !flag(name, value);
        break;
      case 'disk-size':
        machines.diskSize = value;
        break;
      case 'tag':
        machines.tags = { ...machines.tags, ...tag(value) };
        break;
      case 'zone':
        machines.zone = value;
        break;
      case 'region':
        machines.region = value;
        break;
      case 'wait-for-capacity':
        machines.waitForCapacity = value;
        break;
      case 'allow-ssh':
        machines.allowSsh = flag(name, value);
        break;
      case 'allow-ssh-from':
        machines.allowSshFrom = value;
        break;
      case 'allow-ingress-from':
        machines.allowIngressFrom = value;
        break;
      case 'instance-credentials':
        machines.instanceCredentials = flag(name, value);
        break;
      default:
    }
  }
  return machines;
}

const entries = (sent: Readonly<Record<string, string>>): { name: string; value: string }[] =>
  Object.entries(sent).map(([name, value]) => ({ name, value }));

/** Accepts `[2, 8]`, `2,8` and `2`. */
const listOf = (value: string): string[] =>
  value
    .replace(/^\[(.*)\]$/, '$1')
    .split(',')
    .map((each) => each.trim().replace(/^["'](.*)["']$/, '$1'));

/** Also `2-8` and `8GB-32GB`, Coiled's spelling. */
function rangeOf(value: string): string[] {
  const range = /^(\d[^,-]*)-\s*(\d[^,-]*)$/.exec(value.trim());
  return range === null ? listOf(value) : range.slice(1).map((end) => end.trim());
}

function number(name: string, value: string): number {
  if (/^\d+$/.test(value)) return Number(value);
  throw wrong(name, value, 'is not a whole number');
}

function tag(value: string): Record<string, string> {
  const at = value.indexOf('=');
  if (at < 1) throw wrong('tag', value, 'is not KEY=value');
  return { [value.slice(0, at).trim()]: value.slice(at + 1).trim() };
}

function flag(name: string, value: string): boolean {
  const said = parseFlag(value);
  if (said !== null) return said;
  throw wrong(name, value, 'is neither true nor false');
}

function spotPolicy(value: string): SpotPolicy {
  if (value === 'on-demand' || value === 'spot' || value === 'spot_with_fallback') return value;
  throw wrong('spot-policy', value, 'is none of on-demand, spot and spot_with_fallback');
}

const wrong = (name: string, value: string, what: string): RopewalkError =>
  new RopewalkError({
    code: 'VALIDATION',
    field: `options.${name}`,
    message: `${name}: ${JSON.stringify(value)} ${what}.`,
  });
