// Disk options in requests.
import { RopewalkError } from '../domain/errors.ts';
import { parseBytes } from '../domain/units.ts';

const gib = 2 ** 30;
/** Limits of EBS gp3 (AWS, EBS user guide). */
const minThroughput = 125;
const maxThroughput = 2_000;

/** @throws RopewalkError VALIDATION naming the field. */
export function diskGibOf(size: string | number | undefined, field: string, defaultGib: number): number {
  if (size === undefined) return defaultGib;
  const text = String(size).trim();
  // A number alone is in GiB, as in Coiled.
  const wanted = /^\d+$/.test(text) ? Number(text) : Math.ceil(parseBytes(text, field) / gib);
  if (wanted >= 8 && wanted <= 16_384) return wanted;
  throw new RopewalkError({
    code: 'VALIDATION',
    field,
    message: `${field}: a disk of ${size} is not available.`,
    hint: 'Between 8 GiB, which the machine image needs, and 16 TiB.',
  });
}

/** MB/s, or null for the cloud's default. */
export function readThroughput(throughput: number | undefined, field: string): number | null {
  if (throughput === undefined) return null;
  if (throughput >= minThroughput && throughput <= maxThroughput) return throughput;
  throw new RopewalkError({
    code: 'VALIDATION',
    field,
    message: `${field}: a disk cannot have ${throughput} MB/s.`,
    hint: `Between ${minThroughput} and ${maxThroughput}.`,
  });
}
