// The operator's limit on opening ports of head instances: no request and no workspace default may exceed it.
import { RopewalkError } from '../../errors.ts';
import { parseIpv6 } from '../../ipv6.ts';
import { parseRange, type IngressInput, type IngressRules } from './ingress-rules.ts';

/** `limited`: no range wider than `widest`. A list: only subranges of these ranges. */
export type IngressPolicy = 'any' | 'limited' | readonly string[];

export const ingressPolicySyntax = 'must be any, limited, or ranges of addresses with commas between them';

/** Returns null for an invalid policy. */
export function parseIngressPolicy(text: string): IngressPolicy | null {
  if (text === 'any' || text === 'limited') return text;
  const ranges = text.split(',').map((each) => parseRange(each.trim()));
  return ranges.every((range) => range !== null) ? ranges : null;
}

/** @throws RopewalkError FORBIDDEN naming the field of the request, and the operator's setting. */
export function requireAllowedIngress(
  policy: IngressPolicy,
  rules: IngressRules | null,
  { allowSshFrom }: Pick<IngressInput, 'allowSshFrom'>,
): void {
  if (policy === 'any' || rules === null) return;
  const { scheduler, ssh, others = [] } = rules;
  const fields: [field: string, ranges: readonly string[]][] = [
    ['allowIngressFrom', scheduler?.from ?? []],
    [allowSshFrom === undefined ? 'allowSsh' : 'allowSshFrom', ssh ?? []],
    ...others.map(({ port, from }): [string, string[]] => [`openPorts.${port}`, from]),
  ];
  for (const [field, ranges] of fields) {
    const beyond = ranges.find((range) => !isAllowed(policy, range));
    if (beyond !== undefined) throw refusal(policy, field, beyond);
  }
}

/** Describes the policy in words. */
export const spellIngressPolicy = (policy: IngressPolicy): string => {
  if (policy === 'any') return 'any address';
  return policy === 'limited' ? 'ranges of at most an IPv4 /8 or an IPv6 /16' : policy.join(', ');
};

/** Wide enough for the networks of any organization, and far from the whole internet, even with as many ranges as a rule may have. */
const widest = { 4: 8, 6: 16 } as const;

function isAllowed(policy: Exclude<IngressPolicy, 'any'>, text: string): boolean {
  const range = rangeOf(text);
  if (policy === 'limited') return range.bits >= widest[range.family];
  return policy.map(rangeOf).some((each) => isWithin(range, each));
}

interface Range {
  family: 4 | 6;
  /** The address in 32 or 128 binary digits. */
  digits: string;
  bits: number;
}

const isWithin = (inner: Range, outer: Range): boolean =>
  inner.family === outer.family &&
  inner.bits >= outer.bits &&
  inner.digits.slice(0, outer.bits) === outer.digits.slice(0, outer.bits);

/** Takes a range in the format of `parseRange`. */
function rangeOf(text: string): Range {
  const [address = '', bits = ''] = text.split('/');
  const groups = parseIpv6(address);
  if (groups !== null) return { family: 6, digits: binary(groups, 16), bits: Number(bits) };
  return { family: 4, digits: binary(address.split('.').map(Number), 8), bits: Number(bits) };
}

const binary = (parts: readonly number[], width: number): string =>
  parts.map((part) => part.toString(2).padStart(width, '0')).join('');

const refusal = (policy: IngressPolicy, field: string, range: string): RopewalkError =>
  new RopewalkError({
    code: 'FORBIDDEN',
    field,
    message: `${field}: the operator does not let a port be opened to ${range} (ROPEWALK_INGRESS); allowed: ${spellIngressPolicy(policy)}.`,
    hint: 'Give the addresses or ranges that need access, or "me" for your own public address.',
  });
