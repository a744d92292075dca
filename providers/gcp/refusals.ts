// Rejects the parts of a request that Compute Engine does not support, before anything is launched. Tags become labels, which
// are narrower; only Hyperdisk has a configurable throughput (Google's documentation of labels and of Hyperdisk, 2026-08).
import type { AskedOfCloud, CloudRefusal } from '../manifest.ts';
import { bootDiskOf, parseType } from './machine-types.ts';

/** Ropewalk's own labels need four of Google's 64. */
const maxLabels = 60;
const key = /^[a-z][a-z0-9_-]{0,62}$/;
const value = /^[a-z0-9_-]{0,63}$/;
/** MB/s of hyperdisk-balanced. */
const [minThroughput, maxThroughput] = [140, 2_400];

export function gcpRefusal({ workerTypes, tags, workerDiskThroughput }: AskedOfCloud): CloudRefusal | null {
  const entries = Object.entries(tags);
  const wrong = entries.find(([name, text]) => !key.test(name) || name.startsWith('ropewalk-') || !value.test(text));
  if (wrong !== undefined || entries.length > maxLabels) {
    const what = wrong === undefined ? `${entries.length} tags` : JSON.stringify(wrong.join('='));
    return {
      field: 'tags',
      message: `tags: ${what} cannot be labels of Google Cloud.`,
      hint: `At most ${maxLabels}, of lower-case letters, digits, "-" and "_", at most 63 characters; keys begin with a letter.`,
    };
  }
  if (workerDiskThroughput === null) return null;
  const without = workerTypes.filter((type) => !hasHyperdisk(type));
  if (without.length > 0) {
    return {
      field: 'diskThroughput',
      message: `Disks of ${without.slice(0, 3).join(', ')} have no throughput of their own: it grows with their size.`,
      hint: 'Ask for a larger disk, or for types with Hyperdisk, such as c4 and n4.',
    };
  }
  if (workerDiskThroughput >= minThroughput && workerDiskThroughput <= maxThroughput) return null;
  return {
    field: 'diskThroughput',
    message: `Hyperdisk has a throughput of ${minThroughput} to ${maxThroughput} MB/s, not ${workerDiskThroughput}.`,
    hint: 'Leave it out for the default of 140 MB/s.',
  };
}

export const hasHyperdisk = (type: string): boolean => bootDiskOf(parseType(type).machineType) === 'hyperdisk-balanced';
