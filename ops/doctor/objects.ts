// Checks of the object store's bucket: one request of each kind that Ropewalk makes, with this process's credentials.
import { createHash, randomUUID } from 'node:crypto';
import { join } from 'node:path';

import { RopewalkError } from '../../domain/errors.ts';
import { bucketLocation, bucketLocationExample, locationName } from '../../platform/objects/location.ts';
import type { Objects } from '../../platform/objects/objects.ts';
import { openFiles, openObjects } from '../../platform/objects/open.ts';
import { otherObjectStore, readObjectStoreId } from '../../platform/object-store-id.ts';
import { databasePlace, readDeployment } from '../database.ts';
import { broken, ok, type Finding, type Patient } from './finding.ts';

export async function checkObjects({ env, home }: Pick<Patient, 'env' | 'home'>): Promise<Finding[]> {
  const text = env['ROPEWALK_OBJECTS'] ?? '';
  if (text === '') return checkDirectory({ env, home });
  const parsed = bucketLocation.safeParse(text);
  if (!parsed.success) {
    const problem = parsed.error.issues.map(({ message }) => message).join(', ');
    return [broken('objects', `ROPEWALK_OBJECTS ${problem}`, `For example: ROPEWALK_OBJECTS=${bucketLocationExample}`)];
  }
  try {
    const bucket = parsed.data;
    await tryAll(await openObjects({ bucket, home }), `ready/doctor-${randomUUID()}`);
    const areSigned = bucket.kind === 'gs' && bucket.signing !== null;
    if (areSigned) await trySigned({ bucket, home }, `ready/doctor-${randomUUID()}`);
    await requireKnown(await openObjects({ bucket, home }), locationName(bucket), { env, home });
    return [
      ok(
        'objects',
        `${locationName(bucket)}: writes, reads, lists, deletes and refuses to create twice${areSigned ? ', and signed URLs work' : ''}`,
      ),
    ];
  } catch (error) {
    if (!(error instanceof RopewalkError)) throw error;
    return [broken('objects', error.problem.message, error.problem.hint ?? '')];
  }
}

/** Processes on other hosts may use the same database with another store. */
async function checkDirectory(patient: Pick<Patient, 'env' | 'home'>): Promise<Finding[]> {
  const { home } = patient;
  try {
    await requireKnown(await openObjects({ bucket: null, home }), join(home, 'objects'), patient);
    return [];
  } catch (error) {
    if (!(error instanceof RopewalkError)) throw error;
    return [broken('objects', error.problem.message, error.problem.hint ?? '')];
  }
}

/** Another check reports an unreadable database. */
async function requireKnown(objects: Objects, where: string, place: Pick<Patient, 'env' | 'home'>): Promise<void> {
  const deployment = await readDeployment(databasePlace(place.env, place.home));
  if (deployment === null || deployment.objectStoreId === null) return;
  const id = await readObjectStoreId(objects);
  if (id === deployment.objectStoreId) return;
  throw new RopewalkError({ code: 'CONFLICT', ...otherObjectStore(where, deployment.deploymentId) });
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

/** As a user and an instance send and fetch a file. */
async function trySigned(place: Parameters<typeof openFiles>[0], key: string): Promise<void> {
  const files = await openFiles(place);
  if (files.kind !== 'signed') return;
  const probe = Buffer.from('ready?');
  const sha256 = createHash('sha256').update(probe).digest('hex');
  const { url, headers } = await files.uploadUrl(key, { bytes: probe.byteLength, sha256 });
  const { 'content-length': _length, ...sent } = headers;
  const attempt = async (what: string, of: string, init: RequestInit): Promise<void> => {
    const response = await fetch(of, { ...init, signal: AbortSignal.timeout(10_000) }).catch((cause: unknown) => {
      throw refusedUrl(what, cause instanceof Error ? cause.name : 'no answer');
    });
    const [, code = `HTTP ${response.status}`] = /<Code>(\w+)<\/Code>/.exec(await response.text()) ?? [];
    if (!response.ok) throw refusedUrl(what, code);
  };
  try {
    await attempt('upload', url, { method: 'PUT', headers: sent, body: probe });
    await attempt('download', await files.downloadUrl(key), {});
  } finally {
    await (await openObjects(place)).delete(key);
  }
}

/** Names no URL: it is a secret. */
const refusedUrl = (what: string, code: string) =>
  new RopewalkError({
    code: 'UNAVAILABLE',
    message: `The bucket refused the ${what} of a file by a signed URL: ${code}.`,
    hint: 'The account that signs needs the permissions of ops/gcp/object-store.json on the bucket; its clock must be right.',
  });

const unusable = (why: string) =>
  new RopewalkError({
    code: 'UNAVAILABLE',
    message: `The server of the object store ${why}.`,
    hint: 'Use S3, or a server with its consistency and its conditional writes (AWS since 2024-08, MinIO, Ceph, versitygw).',
  });
