// Content of files in a Google Cloud Storage bucket, through the control plane. The last chunk of an upload is sent only after
// the SHA-256 of all of it was verified; Google stores nothing of an aborted request.
import { Readable } from 'node:stream';

import { checkedChunks } from './checked-chunks.ts';
import type { StreamedFiles } from './files.ts';
import { createGcsClient, type GcsClient } from './gcs-client.ts';
import { type GcsAnswer, gcsRefusal, isMissingObject } from './gcs-errors.ts';
import { gcsObjectPath } from './gcs.ts';
import { checkKey } from './key.ts';
import type { GcsLocation } from './location.ts';

/** Makes no request. */
export function createGcsFiles(location: GcsLocation, client: GcsClient = createGcsClient(location)): StreamedFiles {
  const at = (key: string): string => gcsObjectPath(location, key);
  const size = (key: string): Promise<number | null> => gcsSize(client, location, key);
  return {
    kind: 'streamed',
    size,
    async write(key, source, content) {
      checkKey(key);
      const checked = checking(source, content);
      const query = { uploadType: 'media', name: `${location.prefix}${key}` };
      const path = `/upload/storage/v1/b/${location.bucket}/o`;
      const headers = { 'content-type': 'application/octet-stream' };
      const response = await client
        .stream({ method: 'POST', path, query, headers }, checked.chunks)
        .catch((error: unknown) => {
          throw checked.failure() ?? error;
        });
      if (!response.ok) throw gcsRefusal(await answerOf(response), location);
      await response.body?.cancel();
    },
    async read(key) {
      const response = await client.stream({ method: 'GET', path: at(key), query: { alt: 'media' } });
      if (response.ok && response.body !== null) {
        const length = response.headers.get('content-length');
        const bytes = length === null ? ((await size(key)) ?? 0) : Number(length);
        return { bytes, stream: Readable.from(response.body) };
      }
      const answer = await answerOf(response);
      if (isMissingObject(answer)) return null;
      throw gcsRefusal(answer, location);
    },
  };
}

/** Bytes of the object; null when there is none. */
export async function gcsSize(client: GcsClient, location: GcsLocation, key: string): Promise<number | null> {
  const answer = await client.send({ method: 'GET', path: gcsObjectPath(location, key), query: { fields: 'size' } });
  if (isMissingObject(answer)) return null;
  if (answer.status !== 200) throw gcsRefusal(answer, location);
  const { size: bytes }: { size?: string } = JSON.parse(Buffer.from(answer.body).toString());
  return bytes === undefined ? null : Number(bytes);
}

const answerOf = async (response: Response): Promise<Pick<GcsAnswer, 'status' | 'body'>> => ({
  status: response.status,
  body: new Uint8Array(await response.arrayBuffer()),
});

/** Delays each chunk by one: the last one is sent only after the hash and size of all of them were verified. */
function checking(
  source: AsyncIterable<Uint8Array>,
  announced: { sha256: string; maxBytes: number },
): { chunks: AsyncIterable<Uint8Array>; failure: () => unknown } {
  let failure: unknown = null;
  async function* chunks(): AsyncGenerator<Uint8Array> {
    let held: Uint8Array | null = null;
    try {
      for await (const chunk of checkedChunks(source, announced)) {
        if (held !== null) yield held;
        held = chunk;
      }
    } catch (error) {
      // fetch would report it as a broken request.
      failure = error;
      throw error;
    }
    if (held !== null) yield held;
  }
  return { chunks: chunks(), failure: () => failure };
}
