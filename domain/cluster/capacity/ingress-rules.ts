// Ingress rules of a cluster's head instance: from user input to CIDR ranges.
import { RopewalkError } from '../../errors.ts';
import { parseIpv6 } from '../../ipv6.ts';

export interface IngressRules {
  /** Sources that may reach the Dask scheduler's port, by mutual TLS; null leaves it to the account's own security groups. */
  scheduler: { port: number; from: string[] } | null;
  /** Sources that may reach port 22; null leaves it to the account's own security groups. */
  ssh: string[] | null;
  /** Further ports; absent when there are none. */
  others?: { port: number; from: string[] }[] | undefined;
}

/** Returns each opened port with each of its sources: one firewall rule each. */
export const portsOf = ({ scheduler, ssh, others = [] }: IngressRules): { port: number; source: string }[] =>
  [
    ...(scheduler === null ? [] : [scheduler]),
    ...(ssh === null ? [] : [{ port: sshPort, from: ssh }]),
    ...others,
  ].flatMap(({ port, from }) => from.map((source) => ({ port, source })));

export interface IngressInput {
  allowSsh?: boolean | undefined;
  /** Sources, separated by commas. */
  allowSshFrom?: string | undefined;
  allowIngressFrom?: string | undefined;
  /** Sources that may reach further ports, by port. */
  openPorts?: Record<string, string> | undefined;
  /** Port of the Dask scheduler; Dask's default when absent. */
  schedulerPort?: number | undefined;
}

/** The default port in Dask's documentation. */
export const defaultSchedulerPort = 8786;

const sshPort = 22;
const everyone = ['0.0.0.0/0', '::/0'];
/** EC2's limit of rules in a security group is 60. */
const maxRules = 60;
const maxSources = 20;

/**
 * Returns null when the request asks for no rule.
 *
 * @throws RopewalkError VALIDATION naming the field: an invalid address, or SSH both refused and allowed.
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
  const others = Object.entries(input.openPorts ?? {}).map(([text, sources]) => parsePort(text, sources, port));
  if (from === null && ssh === null && others.length === 0) return null;
  const rules = { scheduler: from === null ? null : { port, from }, ssh, ...(others.length === 0 ? {} : { others }) };
  const count = portsOf(rules).length;
  if (count <= maxRules) return rules;
  throw invalidPort(
    'openPorts',
    `${count} rules are more than the ${maxRules} of a security group`,
    'Give larger ranges.',
  );
}

function parsePort(text: string, sources: string, schedulerPort: number): { port: number; from: string[] } {
  const field = `openPorts.${text}`;
  const port = /^[1-9]\d{0,4}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= 65_535)) throw invalidPort(field, 'it is not a port', 'Give a port from 1 to 65535.');
  if (port === sshPort) throw invalidPort(field, 'this is the port of SSH', 'Use allowSshFrom.');
  if (port === schedulerPort) throw invalidPort(field, 'this is the port of the scheduler', 'Use allowIngressFrom.');
  return { port, from: parseSources(sources, field) };
}

const invalidPort = (field: string, why: string, hint: string): RopewalkError =>
  new RopewalkError({ code: 'VALIDATION', field, message: `${field}: ${why}.`, hint });

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
  const range = parseRange(text);
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

/** Normalizes an IPv4 or IPv6 address or range for firewalls; null for anything else. */
export const parseRange = (text: string): string | null => parseIpv4Range(text) ?? parseIpv6Range(text);

/** Clears the bits after the prefix, as firewalls require. */
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

/** Takes parts of `width` bits each and clears the bits after the prefix. */
const cleared = (parts: readonly number[], width: number, bits: number): number[] =>
  parts.map((part, at) => {
    const kept = Math.min(width, Math.max(0, bits - at * width));
    return part & (2 ** width - 2 ** (width - kept));
  });

/** Shortens as RFC 5952 defines: the first of the longest runs of zeros becomes `::`. */
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
