// Ids of objects that people rarely type: a prefix for the kind, then 130 random bits in Crockford's alphabet, which has no
// letters that look like digits.
import { randomBytes } from 'node:crypto';

export function randomId(prefix: string): string {
  const symbols = Array.from(randomBytes(idLength), (byte) => alphabet[byte & 31]);
  return `${prefix}_${symbols.join('')}`;
}

const idLength = 26;
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
