// Addresses of the public internet. A webhook to any other address could reach services that only the control plane can: cloud
// metadata, databases, this API itself.
import { BlockList, isIPv4 } from 'node:net';

const notPublic = new BlockList();
for (const range of [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.31.196.0/24', '192.52.193.0/24', '192.88.99.0/24', '192.168.0.0/16', '192.175.48.0/24'],
  ...['198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
]) {
  const [address = '', bits = ''] = range.split('/');
  notPublic.addSubnet(address, Number(bits), 'ipv4');
}
// Parts of 2000::/3: addresses that embed an IPv4 address (Teredo, 6to4), benchmarks, documentation.
for (const range of ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']) {
  const [address = '', bits = ''] = range.split('/');
  notPublic.addSubnet(address, Number(bits), 'ipv6');
}
const globalUnicast = new BlockList();
globalUnicast.addSubnet('2000::', 3, 'ipv6');

/** `address` is an IP address as text. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !notPublic.check(address, 'ipv4');
  return globalUnicast.check(address, 'ipv6') && !notPublic.check(address, 'ipv6');
}
