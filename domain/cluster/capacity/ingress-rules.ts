// Who may reach a cluster's head instance from outside: from what people write to CIDR ranges.
import { RopewalkError } from '../../errors.ts';
import { parseIpv6 } from '../../ipv6.ts';

export interface IngressRules {
  /** Who may reach the Dask scheduler's port, by mutual TLS; null: whom the account's own security groups let in. */
  scheduler: { port: number; from: string[] } | null;
  /** Who may reach port 22; null: whom the account's own security groups let in. */
  ssh: string[] | null;
}

export interface IngressInput {
  allowSsh?: boolean | undefined;
  /** Sources, separated by commas. */
  allowSshFrom?: string | undefined;
  allowIngressFrom?: string | undefined;
  /** Port of the Dask scheduler; Dask's own unless given. */
  schedulerPort?: number | undefined;
}

/** The port of Dask's own documentation and defaults. */
export const defaultSchedulerPort = 8786;

const everyone = ['0.0.0.0/0', '::/0'];
/** EC2 allows 60 rules in a group. */
const maxSources = 20;

/**
 * Null when the request asks for no rule.
 *
 * @throws RopewalkError VALIDATION naming the field: no address, or SSH both refused and allowed.
 */
export function parseIngressRules(input: IngressInput): IngressRules | null {
  const { allowSsh, allowSshFrom, allowIngressFrom, schedulerPort: port = defaultSchedulerPort } = input;
  if (allowSsh === false && allowSshFrom !== undefined) {
    throw new RopewalkError({
      code: 'VALIDATION',
      field: 'allowSsh',
      message: 'allowSsh is false, and allowSshFrom says from where SSH is allowed.',
      hint: 'Leave one of the two out.',
    });
  }
  const from = allowIngressFrom === undefined ? null : parseSources(allowIngressFrom, 'allowIngressFrom');
  const sshFrom = allowSshFrom === undefined ? null : parseSources(allowSshFrom, 'allowSshFrom');
  const ssh = sshFrom ?? (allowSsh === true ? everyone : null);
  if (from === null && ssh === null) return null;
  return { scheduler: from === null ? null : { port, from }, ssh };
}

function parseSources(text: string, field: string): string[] {
  const ranges = text.split(',').flatMap((each) => parseSource(each.trim(), field));
  const unique = [...new Set(ranges)];
  if (unique.length <= maxSources) return unique;
  throw new RopewalkError({
    code: 'VALIDATION',
    field,
    message: `${field} has ${unique.length} ranges; at most ${maxSources} are possible.`,
    hint: 'Give larger ranges.',
  });
}

function parseSource(text: string, field: string): string[] {
  if (text === 'everyone') return everyone;
  const range = parseIpv4Range(text) ?? parseIpv6Range(text);
  if (range !== null) return [range];
  throw new RopewalkError({
    code: 'VALIDATION',
    field,
    message: `${field}: ${JSON.stringify(text)} is not an address or a range of addresses.`,
    hint:
      text === 'me'
        ? 'The CLI, the SDK and the Python client replace "me" by your public address; over HTTP, give the address.'
        : 'Give addresses, ranges such as 203.0.113.0/24 or 2001:db8::/32, or "everyone".',
  });
}

/** As firewalls take it: the bits behind the prefix cleared. */
function parseIpv4Range(text: string): string | null {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?:\/(\d{1,2}))?$/.exec(text);
  const octets = (match?.slice(1, 5) ?? []).map(Number);
  const bits = Number(match?.[5] ?? 32);
  if (match === null || octets.some((octet) => octet > 255) || bits > 32) return null;
  return `${cleared(octets, 8, bits).join('.')}/${bits}`;
}

function parseIpv6Range(text: string): string | null {
  const [, address = '', prefix = '128'] = /^([0-9a-f:]+)(?:\/(\d{1,3}))?$/i.exec(text) ?? [];
  const bits = Number(prefix);
  const groups = bits > 128 ? null : parseIpv6(address);
  return groups === null ? null : `${shortened(cleared(groups, 16, bits))}/${bits}`;
}

/** Parts of `width` bits each, with the bits behind the prefix set to 0. */
const cleared = (parts: readonly number[], width: number, bits: number): number[] =>
  parts.map((part, at) => {
    const kept = Math.min(width, Math.max(0, bits - at * width));
    return part & (2 ** width - 2 ** (width - kept));
  });

/** As RFC 5952 writes it: the first of the longest runs of zeros becomes `::`. */
function shortened(groups: readonly number[]): string {
  const text = groups.map((group) => group.toString(16)).join(':');
  const runs = [...text.matchAll(/(?<![^:])0(?::0)+(?![^:])/g)];
  const longest = runs.reduce<RegExpExecArray | null>(
    (best, run) => (best === null || run[0].length > best[0].length ? run : best),
    null,
  );
  if (longest === null) return text;
  const before = text.slice(0, longest.index).replace(/:$/, '');
  const after = text.slice(longest.index + longest[0].length).replace(/^:/, '');
  return `${before}::${after}`;
}
