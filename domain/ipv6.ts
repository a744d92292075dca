// IPv6 addresses as numbers.

/** The eight groups of an address such as `2001:db8::1`; null for any other text. */
export function parseIpv6(address: string): number[] | null {
  const halves = address.split('::');
  const groupsOf = (half = ''): string[] => (half === '' ? [] : half.split(':'));
  const [head, tail] = [groupsOf(halves[0]), groupsOf(halves[1])];
  const missing = 8 - head.length - tail.length;
  if (halves.length > 2 || (halves.length === 2 ? missing < 1 : missing !== 0)) return null;
  const groups = [...head, ...Array.from({ length: missing }, () => '0'), ...tail];
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return null;
  return groups.map((group) => Number.parseInt(group, 16));
}
