// Checks the bytes of an arriving file against its announced hash and size limit.
import { createHash } from 'node:crypto';

import { RopewalkError } from '../../domain/errors.ts';

/** Throws at the end when the hash differs, and as soon as the limit is exceeded. */
export async function* checkedChunks(
  source: AsyncIterable<Uint8Array>,
  { sha256, maxBytes }: { sha256: string; maxBytes: number },
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of source) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    hash.update(chunk);
    yield chunk;
  }
  if (hash.digest('hex') !== sha256) throw different();
}

const different = () =>
  new RopewalkError({
    code: 'VALIDATION',
    field: 'sha256',
    message: 'The bytes that arrived have another SHA-256 than the request says.',
    hint: 'Send the file again; do not change it meanwhile.',
  });

const tooLarge = (maxBytes: number) =>
  new RopewalkError({
    code: 'TOO_LARGE',
    message: `The content of this file may have at most ${maxBytes} bytes here.`,
  });
