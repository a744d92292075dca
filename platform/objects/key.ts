// Object keys: relative paths of [a-z0-9._-] segments, none of which starts with a dot. Every store refuses other keys, so that
// a key is a safe path in a directory and needs no escaping in a bucket.
import { RopewalkError } from '../../domain/errors.ts';

/** @throws RopewalkError INTERNAL */
export function checkKey(key: string): void {
  const isSound = key.length <= maxKeyLength && key.split('/').every((part) => /^[a-z0-9_-][a-z0-9._-]*$/.test(part));
  if (!isSound) throw new RopewalkError({ code: 'INTERNAL', message: `${JSON.stringify(key)} is not an object key.` });
}

/** Checks a prefix up to its last slash; the rest may be the start of a segment. */
export function checkPrefix(prefix: string): void {
  const directory = prefix.slice(0, prefix.lastIndexOf('/') + 1);
  if (directory !== '') checkKey(directory.slice(0, -1));
}

const maxKeyLength = 512;
