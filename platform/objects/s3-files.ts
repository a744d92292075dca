// Content of files in a bucket: users and instances transfer it with signed URLs, never through the control plane. The bucket
// compares the SHA-256 of the received bytes with the signed one, and shows an object only when it is complete.
import { GetObjectCommand, HeadObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';

import { signedUrlSeconds } from '../../domain/file-limits.ts';
import type { SignedFiles } from './files.ts';
import { checkKey } from './key.ts';
import type { S3Location } from './location.ts';
import { isMissingObject, s3Error } from './s3-errors.ts';
import { createS3Client } from './s3.ts';

/** Signing makes no request to the bucket. */
export function createS3Files(location: S3Location, client: S3Client = createS3Client(location)): SignedFiles {
  const at = (key: string) => {
    checkKey(key);
    return { Bucket: location.bucket, Key: `${location.prefix}${key}` };
  };
  return {
    kind: 'signed',
    async size(key) {
      try {
        return (await client.send(new HeadObjectCommand(at(key)))).ContentLength ?? null;
      } catch (error) {
        if (isMissingObject(error)) return null;
        throw s3Error(error, location);
      }
    },
    async uploadUrl(key, { bytes, sha256 }) {
      const checksum = Buffer.from(sha256, 'hex').toString('base64');
      const command = new PutObjectCommand({ ...at(key), ContentLength: bytes, ChecksumSHA256: checksum });
      const url = await getSignedUrl(client, command, {
        expiresIn: signedUrlSeconds,
        // As a query parameter S3 would not compare it with the received bytes.
        unhoistableHeaders: new Set(['x-amz-checksum-sha256']),
        signableHeaders: new Set(['host', 'content-length']),
      });
      return { url, headers: { 'content-length': String(bytes), 'x-amz-checksum-sha256': checksum } };
    },
    downloadUrl: (key) => getSignedUrl(client, new GetObjectCommand(at(key)), { expiresIn: signedUrlSeconds }),
  };
}
