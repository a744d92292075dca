// Who may reach a cluster's head instance from outside, as people write it and as a firewall takes it.
import { RopewalkError } from '../errors.ts';

/** CIDR ranges; a port that is null is as the configuration's own security groups have it. */
export interface IngressRules {
  /** Port 8786, mutual TLS. */
  scheduler: string | null;
  /** Port 22. */
  ssh: string | null;
}

export interface IngressInput {
  allowSsh?: boolean | undefined;
  allowSshFrom?: string | undefined;
  allowIngressFrom?: string | undefined;
}

const everyone = '0.0.0.0/0';

/**
 * What is asked to be open, or null when nothing is.
 *
 * @throws RopewalkError VALIDATION naming the field: no address, or SSH both refused and allowed.
 */
export function parseIngressRules({ allowSsh, allowSshFrom, allowIngressFrom }: IngressInput): IngressRules | null {
  if (allowSsh === false && allowSshFrom !== undefined) {
    throw new RopewalkError({
      code: 'VALIDATION',
      field: 'allowSsh',
      message: 'allowSsh is false, and allowSshFrom says from where SSH is allowed.',
      hint: 'Leave one of the two out.',
    });
  }
  const scheduler = allowIngressFrom === undefined ? null : readSource(allowIngressFrom, 'allowIngressFrom');
  const sshFrom = allowSshFrom === undefined ? null : readSource(allowSshFrom, 'allowSshFrom');
  const ssh = sshFrom ?? (allowSsh === true ? everyone : null);
  return scheduler === null && ssh === null ? null : { scheduler, ssh };
}

/** A range of IPv4 addresses as firewalls take it: the address with the bits behind the prefix cleared. */
function readSource(text: string, field: string): string {
  if (text === 'everyone') return everyone;
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?:\/(\d{1,2}))?$/.exec(text.trim());
  const octets = (match?.slice(1, 5) ?? []).map(Number);
  const bits = Number(match?.[5] ?? 32);
  if (match !== null && octets.every((octet) => octet <= 255) && bits <= 32) {
    const kept = octets.map((octet, at) => octet & (0xff << (8 - Math.min(8, Math.max(0, bits - at * 8)))) & 0xff);
    return `${kept.join('.')}/${bits}`;
  }
  const hint =
    text === 'me'
      ? 'Which address is yours only your side can tell: give it, for example 203.0.113.7.'
      : 'Give an IPv4 address, a range such as 203.0.113.0/24, or "everyone".';
  throw new RopewalkError({
    code: 'VALIDATION',
    field,
    message: `${field}: ${JSON.stringify(text)} is no source of connections.`,
    hint,
  });
}
