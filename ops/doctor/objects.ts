// The bucket of the object store: a round of every request that Ropewalk makes, with the credentials of this process.
import { randomUUID } from 'node:crypto';

import { RopewalkError } from '../../domain/errors.ts';
import { bucketLocation, bucketLocationExample, locationName } from '../../platform/objects/location.ts';
import type { Objects } from '../../platform/objects/objects.ts';
import { openObjects } from '../../platform/objects/open.ts';
import { broken, ok, type Finding, type Patient } from './finding.ts';

export async function checkObjects({ env, home }: Pick<Patient, 'env' | 'home'>): Promise<Finding[]> {
  const text = env['ROPEWALK_OBJECTS'] ?? '';
  if (text === '') return [];
  const parsed = bucketLocation.safeParse(text);
  if (!parsed.success) {
    const problem = parsed.error.issues.map(({ message }) => message).join(', ');
    return [broken('objects', `ROPEWALK_OBJECTS ${problem}`, `For example: ROPEWALK_OBJECTS=${bucketLocationExample}`)];
  }
  try {
    await tryAll(await openObjects({ bucket: parsed.data, home }), `ready/doctor-${randomUUID()}`);
    return [ok('objects', `${locationName(parsed.data)}: writes, reads, lists, deletes and refuses to create twice`)];
  } catch (error) {
    if (!(error instanceof RopewalkError)) throw error;
    return [broken('objects', error.problem.message, error.problem.hint ?? '')];
  }
}

async function tryAll(objects: Objects, key: string): Promise<void> {
  const probe = Buffer.from('ready?');
  await objects.put(key, probe);
  try {
    if ((await objects.get(key)) === null || !(await objects.list(key, { limit: 1 })).includes(key)) {
      throw unusable('does not return what was written a moment before');
    }
    if (await objects.create(key, probe))
      throw unusable('ignores If-None-Match: two processes could create one object');
  } finally {
    await objects.delete(key);
  }
}

const unusable = (why: string) =>
  new RopewalkError({
    code: 'UNAVAILABLE',
    message: `The server of the object store ${why}.`,
    hint: 'Use S3, or a server with its consistency and its conditional writes (AWS since 2024-08, MinIO, Ceph, versitygw).',
  });
