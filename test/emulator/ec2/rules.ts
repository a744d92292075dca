// Rules of security groups as EC2 stores them, `tcp 22 203.0.113.0/24`: it clears the bits behind a prefix, and refuses invalid rules.
import { isIP } from 'node:net';

import { AwsError } from '../aws-error.ts';
import type { Params } from '../params.ts';

/** AWS's default quota of one group. */
export const maxRules = 60;

/** `groupOf`: returns the id of an existing group. */
export function readRules(permissions: readonly Params[], groupOf: (id: string) => string): string[] {
  const rules = permissions.flatMap((permission) => {
    const peers = [
      ...permission.items('IpRanges').map((range) => rangeOf(range.text('CidrIp') ?? '', 4)),
      ...permission.items('Ipv6Ranges').map((range) => rangeOf(range.text('CidrIpv6') ?? '', 6)),
      ...permission.items('Groups').map((peer) => groupOf(peer.text('GroupId') ?? '')),
    ];
    if (peers.length === 0) throw new AwsError('MissingParameter', 'Either source group or CIDR must be specified.');
    for (const range of [...permission.items('IpRanges'), ...permission.items('Ipv6Ranges')]) checkDescription(range);
    const [protocol, port] = [protocolOf(permission), permission.text('FromPort') ?? '-1'];
    return peers.map((peer) => `${protocol} ${port} ${peer}`);
  });
  if (new Set(rules).size < rules.length) throw invalid('The same permission must not appear multiple times');
  return rules;
}

function protocolOf(permission: Params): string {
  const protocol = permission.text('IpProtocol') ?? '';
  if (!/^(tcp|udp|icmp|icmpv6|-1|\d{1,3})$/.test(protocol) || Number(protocol) > 255)
    throw invalid(`Invalid value '${protocol}' for IP protocol. Unknown protocol.`);
  if (protocol !== 'tcp' && protocol !== 'udp') return protocol;
  const [from, to] = [permission.text('FromPort') ?? '', permission.text('ToPort') ?? ''];
  const arePorts = [from, to].every((port) => /^\d{1,5}$/.test(port) && Number(port) <= 65_535);
  if (!arePorts) throw invalid(`Invalid value for portRange. Must specify both from and to ports with TCP/UDP.`);
  if (Number(from) > Number(to)) throw invalid(`Invalid TCP/UDP port range (${from}-${to})`);
  return protocol;
}

function rangeOf(cidr: string, version: 4 | 6): string {
  const [, address = '', bits = ''] = /^([0-9a-fA-F.:]+)\/(\d{1,3})$/.exec(cidr) ?? [];
  if (isIP(address) !== version || Number(bits) > (version === 4 ? 32 : 128))
    throw invalid(`CIDR block ${cidr} is malformed`);
  if (version === 6) return cidr.toLowerCase();
  const size = 2 ** (32 - Number(bits));
  const number = address.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0);
  const first = Math.floor(number / size) * size;
  return `${[24, 16, 8, 0].map((shift) => Math.floor(first / 2 ** shift) % 256).join('.')}/${bits}`;
}

function checkDescription(range: Params): void {
  const text = range.text('Description') ?? '';
  if (!/^[A-Za-z0-9. _\-:/()#,@[\]+=&;{}!$*]{0,255}$/.test(text))
    throw invalid(
      `Invalid rule description. Valid descriptions are strings less than 256 characters from the following set: a-zA-Z0-9. _-:/()#,@[]+=&;{}!$*`,
    );
}

const invalid = (message: string): AwsError => new AwsError('InvalidParameterValue', message);
