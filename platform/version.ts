// The running version, from package.json.
import { readFileSync } from 'node:fs';

export function readVersion(): string {
  const parsed: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  const isPackage = typeof parsed === 'object' && parsed !== null && 'version' in parsed;
  return isPackage && typeof parsed.version === 'string' ? parsed.version : 'unknown';
}
