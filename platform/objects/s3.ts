// Objects in a bucket of S3 or an S3-compatible server. A PUT replaces the whole object at once, and later reads see it (S3's
// consistency model since 2020-12). The SDK sends a CRC32 with each write and verifies that of each read.
import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';

import { checkKey, checkPrefix } from './key.ts';
import type { S3Location } from './location.ts';
import type { Objects } from './objects.ts';
import { isConflicting, isExisting, isMissingObject, s3Error } from './s3-errors.ts';

/** Makes no request. Every error is a RopewalkError UNAVAILABLE with S3's reason. */
export function createS3Objects(location: S3Location, client: S3Client = createS3Client(location)): Objects {
  const at = (key: string) => ({ Bucket: location.bucket, Key: `${location.prefix}${key}` });
  const explained = async <T>(request: Promise<T>): Promise<T> => {
    try {
      return await request;
    } catch (error) {
      throw s3Error(error, location);
    }
  };
  const write = (key: string, bytes: Uint8Array) => ({ ...at(key), Body: bytes, ChecksumAlgorithm: 'CRC32' as const });

  return {
    async put(key, bytes) {
      checkKey(key);
      await explained(client.send(new PutObjectCommand(write(key, bytes))));
    },

    async create(key, bytes) {
      checkKey(key);
      for (let attempt = 1; ; attempt++) {
        try {
          await client.send(new PutObjectCommand({ ...write(key, bytes), IfNoneMatch: '*' }));
          return true;
        } catch (error) {
          if (isExisting(error)) return false;
          if (!isConflicting(error) || attempt === maxConflicts) throw s3Error(error, location);
        }
      }
    },

    async get(key) {
      checkKey(key);
      try {
        const { Body } = await client.send(new GetObjectCommand({ ...at(key), ChecksumMode: 'ENABLED' }));
        return Body === undefined ? new Uint8Array(0) : await Body.transformToByteArray();
      } catch (error) {
        if (isMissingObject(error)) return null;
        throw s3Error(error, location);
      }
    },

    async delete(key) {
      checkKey(key);
      await explained(client.send(new DeleteObjectCommand(at(key))));
    },

    async list(prefix, { after = '', limit }) {
      checkPrefix(prefix);
      const found: string[] = [];
      let startAfter = after;
      while (found.length < limit) {
        const asked = Math.min(limit - found.length, maxPage);
        const page = await explained(
          client.send(
            new ListObjectsV2Command({
              Bucket: location.bucket,
              Prefix: `${location.prefix}${prefix}`,
              MaxKeys: asked,
              ...(startAfter === '' ? {} : { StartAfter: `${location.prefix}${startAfter}` }),
            }),
          ),
        );
        const keys = (page.Contents ?? []).flatMap(({ Key }) => Key?.slice(location.prefix.length) ?? []);
        found.push(...keys);
        startAfter = keys.at(-1) ?? startAfter;
        if (page.IsTruncated !== true || keys.length === 0) break;
      }
      return found;
    },
  };
}

/**
 * Without `credentials` the SDK's default chain applies: environment, profile, role of the host. An attempt without any
 * transferred byte for `silenceMs` is aborted, so that a hanging server is an error after three attempts.
 */
export const createS3Client = (
  { region, endpoint, pathStyle }: S3Location,
  credentials?: { accessKeyId: string; secretAccessKey: string },
  silenceMs = maxSilenceMs,
): S3Client =>
  new S3Client({
    ...(credentials === undefined ? {} : { credentials }),
    ...(region === null ? (endpoint === null ? {} : { region: 'us-east-1' }) : { region }),
    ...(endpoint === null ? {} : { endpoint }),
    forcePathStyle: pathStyle,
    maxAttempts: 3,
    requestHandler: {
      ...{ connectionTimeout: 3_000, socketTimeout: silenceMs },
      ...{ requestTimeout: 30_000, throwOnRequestTimeout: true },
    },
  });

/** People and workflows wait for these requests. */
const maxSilenceMs = 5_000;
/** S3's maximum number of keys per answer. */
const maxPage = 1_000;
const maxConflicts = 5;
