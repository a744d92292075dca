// The agent program, which cloud instances download by its SHA-256, so a start-up script always gets the version it was written for. The object store
// keeps all versions that were ever served, because instances of an old launch may boot after an upgrade.
import { createHash } from 'node:crypto';

import { RopewalkError } from '../../domain/errors.ts';
import type { Objects } from '../../platform/objects/objects.ts';

export interface Programs {
  /** Returns the bytes with this SHA-256, or null. */
  read(sha256: string): Promise<Uint8Array | null>;
}

/** Stores the program for all replicas; idempotent. Resolves to its SHA-256. */
export async function publishProgram(objects: Objects, bytes: Uint8Array): Promise<string> {
  const sha256 = hashOf(bytes);
  if ((await objects.get(keyOf(sha256))) === null) await objects.put(keyOf(sha256), bytes);
  return sha256;
}

export function createPrograms(objects: Objects): Programs {
  // A thousand instances of one launch request it at once.
  const known = new Map<string, Uint8Array>();
  return {
    read: async (sha256) => {
      const cached = known.get(sha256);
      if (cached !== undefined) return cached;
      const bytes = await objects.get(keyOf(sha256));
      // A partial or wrong file would not run: the instance checks the hash too.
      if (bytes === null || hashOf(bytes) !== sha256) return null;
      for (const oldest of known.keys()) if (known.size >= maxKnown) known.delete(oldest);
      known.set(sha256, bytes);
      return bytes;
    },
  };
}

export async function readProgram(programs: Programs, sha256: string): Promise<Uint8Array> {
  const bytes = await programs.read(sha256);
  if (bytes !== null) return bytes;
  throw new RopewalkError({ code: 'NOT_FOUND', message: 'There is no agent with this SHA-256.' });
}

const maxKnown = 3;
const keyOf = (sha256: string): string => `programs/${sha256}.mjs`;
const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
