// Makes the names given by people and instances fit for a certificate, or refuses them. The encoder gets names as values, never
// as text to parse: a comma in a name cannot become another field.
import { randomBytes } from 'node:crypto';
import { isIP } from 'node:net';

import type { JsonGeneralName, JsonName } from '@peculiar/x509';

import { RopewalkError } from '../../domain/errors.ts';

/** Subject of a certificate: its role, and the name of its owner. */
export function commonName(role: string, name: string): JsonName {
  const text = name.trim();
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  if (text === '' || /[\u0000-\u001f\u007f]/.test(text)) {
    throw invalid('subject', 'A certificate needs a name without control characters.');
  }
  // X.520 limits it to 64 characters. The name is only for display, so its beginning is enough.
  return [{ CN: [Array.from(text).slice(0, 64).join('')] }, { OU: [`ropewalk ${role}`] }];
}

/** Encodes each address by its type; refuses an address that is neither an IP nor a host name. */
export function alternativeNames(addresses: readonly string[]): JsonGeneralName[] {
  return [...new Set(addresses)].map((address, index) => {
    if (isIP(address) !== 0 && !address.includes('%')) return { type: 'ip', value: address };
    if (address.length <= 253 && hostName.test(address)) return { type: 'dns', value: address.toLowerCase() };
    throw invalid(
      `addresses[${index}]`,
      `${JSON.stringify(address.slice(0, 80))} is neither an IP address nor a host name.`,
    );
  });
}

export function lifetimeMs(validDays: number): number {
  if (Number.isFinite(validDays) && validDays > 0 && validDays <= 3_650) return validDays * 86_400_000;
  throw invalid('validDays', `A certificate is valid for more than 0 and at most 3650 days, not ${validDays}.`);
}

/** 126 random bits, as 32 hexadecimal digits. The first byte keeps the number positive and its length fixed. */
export function newSerial(): string {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40;
  return bytes.toString('hex');
}

/** The last label must not be a number: it would be a mistyped IP address. */
const hostName = /^(?!.*(^|\.)\d+$)(?!-)[a-z0-9_-]{1,63}(\.(?!-)[a-z0-9_-]{1,63})*$/i;

const invalid = (field: string, message: string): RopewalkError =>
  new RopewalkError({ code: 'VALIDATION', field, message });
