// Objects in a Google Cloud Storage bucket. An upload replaces the whole object at once, and later reads and lists see it
// (Google's "strongly consistent" operations). Google verifies the MD5 of each write; each read is verified here.
import { createHash, randomUUID } from 'node:crypto';

import { RopewalkError } from '../../domain/errors.ts';
import { createGcsClient, type GcsClient } from './gcs-client.ts';
import { type GcsAnswer, gcsRefusal, isMissingObject } from './gcs-errors.ts';
import { checkKey, checkPrefix } from './key.ts';
import type { GcsLocation } from './location.ts';
import type { Objects } from './objects.ts';

/** Makes no request. Every error is a RopewalkError UNAVAILABLE with Google's reason. */
export function createGcsObjects(location: GcsLocation, client: GcsClient = createGcsClient(location)): Objects {
  const { bucket, prefix: start } = location;
  const at = (key: string): string => gcsObjectPath(location, key);
  const accepted = (answer: GcsAnswer): GcsAnswer => {
    if (answer.status < 300) return answer;
    throw gcsRefusal(answer, location);
  };
  /** A 404 without its usual text may also mean that the bucket does not exist; a list request shows that. */
  const isAbsent = async (answer: GcsAnswer): Promise<boolean> => {
    if (answer.status !== 404) return false;
    if (!isMissingObject(answer)) await list({ prefix: start, maxResults: '1' });
    return true;
  };
  const list = async (query: Record<string, string>): Promise<ListPage> => {
    const fields = 'items(name),nextPageToken';
    const answer = await client.send({ method: 'GET', path: `/storage/v1/b/${bucket}/o`, query: { ...query, fields } });
    return JSON.parse(Buffer.from(accepted(answer).body).toString());
  };
  const upload = (key: string, bytes: Uint8Array, query: Record<string, string>, metadata: Record<string, string>) => {
    const resource = { name: `${start}${key}`, md5Hash: md5(bytes), metadata };
    return client.send({
      method: 'POST',
      path: `/upload/storage/v1/b/${bucket}/o`,
      query: { uploadType: 'multipart', ...query },
      ...multipart(resource, bytes),
    });
  };

  return {
    async put(key, bytes) {
      checkKey(key);
      accepted(await upload(key, bytes, {}, {}));
    },

    async create(key, bytes) {
      checkKey(key);
      const writer = randomUUID();
      const answer = await upload(key, bytes, { ifGenerationMatch: '0' }, { writer });
      if (answer.status !== 412) return accepted(answer) !== null;
      // The object may come from an earlier attempt of this call whose answer was lost.
      return answer.isRepeat && writer === (await writerOf(client, at(key)));
    },

    async get(key) {
      checkKey(key);
      const answer = await client.send({ method: 'GET', path: at(key), query: { alt: 'media' } });
      if (await isAbsent(answer)) return null;
      const { headers, body } = accepted(answer);
      const expected = /md5=([^,\s]+)/.exec(headers.get('x-goog-hash') ?? '')?.[1];
      if (expected === undefined || expected === md5(body)) return body;
      const message = `The object ${start}${key} of the bucket ${bucket} arrived damaged: its MD5 is not the one that Google sent.`;
      throw new RopewalkError({ code: 'UNAVAILABLE', message, hint: 'Try again; check the network and its proxies.' });
    },

    async delete(key) {
      checkKey(key);
      const answer = await client.send({ method: 'DELETE', path: at(key) });
      if (!(await isAbsent(answer))) accepted(answer);
    },

    async list(prefix, { after = '', limit }) {
      checkPrefix(prefix);
      const found: string[] = [];
      let pageToken = '';
      while (found.length < limit) {
        const query = {
          prefix: `${start}${prefix}`,
          // The page that starts with `after` includes it as an extra key.
          maxResults: String(Math.min(limit - found.length + 1, maxPage)),
          ...(after === '' ? {} : { startOffset: `${start}${after}` }),
          ...(pageToken === '' ? {} : { pageToken }),
        };
        const page = await list(query);
        const keys = (page.items ?? []).flatMap(({ name }) => name?.slice(start.length) ?? []);
        found.push(...keys.filter((key) => key > after));
        pageToken = page.nextPageToken ?? '';
        if (pageToken === '') break;
      }
      return found.slice(0, limit);
    },
  };
}

interface ListPage {
  items?: { name?: string }[];
  nextPageToken?: string;
}

/** @throws RopewalkError INTERNAL for an invalid key. */
export function gcsObjectPath({ bucket, prefix }: GcsLocation, key: string): string {
  checkKey(key);
  return `/storage/v1/b/${bucket}/o/${encodeURIComponent(`${prefix}${key}`)}`;
}

async function writerOf(client: GcsClient, path: string): Promise<string | null> {
  const { status, body } = await client.send({ method: 'GET', path, query: { fields: 'metadata' } });
  if (status !== 200) return null;
  const { metadata }: { metadata?: { writer?: string } } = JSON.parse(Buffer.from(body).toString());
  return metadata?.writer ?? null;
}

function multipart(resource: object, bytes: Uint8Array): { headers: Record<string, string>; body: Uint8Array } {
  // Random, so that no content can contain it.
  const boundary = `ropewalk-${randomUUID()}`;
  const head =
    `--${boundary}\r\ncontent-type: application/json; charset=UTF-8\r\n\r\n${JSON.stringify(resource)}\r\n` +
    `--${boundary}\r\ncontent-type: application/octet-stream\r\n\r\n`;
  return {
    headers: { 'content-type': `multipart/related; boundary=${boundary}` },
    body: Buffer.concat([Buffer.from(head), bytes, Buffer.from(`\r\n--${boundary}--\r\n`)]),
  };
}

const md5 = (bytes: Uint8Array): string => createHash('md5').update(bytes).digest('base64');

/** Google's maximum number of keys per answer. */
const maxPage = 1_000;
