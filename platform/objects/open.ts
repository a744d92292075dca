// The object store of the deployment: the bucket that the environment names, else the directory `objects` of the home.
import { join } from 'node:path';

import { createDirectoryObjects } from './directory.ts';
import { createDirectoryFiles } from './directory-files.ts';
import type { FileStore } from './files.ts';
import type { BucketLocation } from './location.ts';
import type { Objects } from './objects.ts';

/** Loads a bucket's SDK only when one is configured. Makes no request. */
export async function openObjects({ bucket, home }: { bucket: BucketLocation | null; home: string }): Promise<Objects> {
  if (bucket === null) return createDirectoryObjects(join(home, 'objects'));
  if (bucket.kind === 'gs') {
    const { createGcsObjects } = await import('./gcs.ts');
    return createGcsObjects(bucket);
  }
  const { createS3Objects } = await import('./s3.ts');
  return createS3Objects(bucket);
}

/** The content of files, in the same place. Makes no request. */
export async function openFiles({ bucket, home }: { bucket: BucketLocation | null; home: string }): Promise<FileStore> {
  if (bucket === null) return createDirectoryFiles(join(home, 'objects'));
  if (bucket.kind === 'gs' && bucket.signing !== null) {
    const { createGcsSignedFiles } = await import('./gcs-signed-files.ts');
    return createGcsSignedFiles(bucket);
  }
  if (bucket.kind === 'gs') {
    const { createGcsFiles } = await import('./gcs-files.ts');
    return createGcsFiles(bucket);
  }
  const { createS3Files } = await import('./s3-files.ts');
  return createS3Files(bucket);
}
