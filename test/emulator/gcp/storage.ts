// Buckets and objects: the operations of the JSON API of Cloud Storage that Ropewalk calls. Any other path is 404.
import { createHash } from 'node:crypto';

import type { Caller } from './access.ts';
import { GcpError, invalid } from './gcp-error.ts';
import { parseMultipart } from './multipart.ts';
import { digits } from './project.ts';
import type { EmulatedProject } from './project.ts';

export interface Bucket {
  name: string;
  location: string;
  labels: Record<string, string>;
  objects: Map<string, StoredObject>;
}

interface StoredObject {
  generation: string;
  bytes: Buffer;
  metadata: Record<string, string>;
}

export const createBucket = (name: string, keys: readonly string[]): Bucket => ({
  ...{ name, location: 'US', labels: {} },
  objects: new Map(keys.map((key) => [key, { generation: '1', bytes: Buffer.alloc(0), metadata: {} }])),
});

export interface StorageCall {
  method: string;
  pathname: string;
  query: URLSearchParams;
  contentType: string;
  body: Buffer;
  caller: Caller;
}

/** `media`: the bytes of an object, or the text of a download's refusal. */
export interface StorageAnswer {
  status: number;
  json?: object;
  media?: Buffer;
  headers?: Record<string, string>;
}

export interface StorageRoute {
  name: string;
  run: () => StorageAnswer;
}

/** Null when the path is of another API. */
export function storageRoute(project: EmulatedProject, call: StorageCall): StorageRoute | null {
  const [, upload, rest] = /^(\/upload)?\/storage\/v1\/b(?:\/(.*))?$/.exec(call.pathname) ?? [];
  if (rest === undefined && call.pathname !== '/storage/v1/b') return null;
  const [bucket = '', kind, ...name] = (rest ?? '').split('/');
  const object = decodeURIComponent(name.join('/'));
  const of = `${call.method}${upload === undefined ? '' : ' upload'}${bucket === '' ? '' : ' bucket'}${kind === undefined ? '' : ` ${kind}`}${object === '' ? '' : ' *'}`;
  switch (of) {
    case 'POST upload bucket o':
      return { name: 'objects.insert', run: () => insertObject(project, bucket, call) };
    case 'GET bucket o':
      return { name: 'objects.list', run: () => listObjects(project, bucket, call) };
    case 'GET bucket o *':
      return { name: 'objects.get', run: () => getObject(project, bucket, object, call) };
    case 'DELETE bucket o *':
      return { name: 'objects.delete', run: () => deleteObject(project, bucket, object, call) };
    case 'POST':
      return { name: 'buckets.insert', run: () => insertBucket(project, call) };
    case 'GET bucket':
      return { name: 'buckets.get', run: () => getBucket(project, bucket, call) };
    case 'DELETE bucket':
      return { name: 'buckets.delete', run: () => deleteBucket(project, bucket, call) };
    case 'GET bucket iam':
    case 'PUT bucket iam':
      return {
        name: `buckets.${call.method === 'GET' ? 'get' : 'set'}IamPolicy`,
        run: () => policyOf(project, bucket, call),
      };
    default:
      throw new GcpError(404, 'notFound', `The emulator has no ${call.method} ${call.pathname}.`);
  }
}

function insertObject(project: EmulatedProject, bucketName: string, call: StorageCall): StorageAnswer {
  const { query, contentType, body } = call;
  const bucket = existing(project, bucketName);
  const { resource, content } = uploaded(query, contentType, body);
  const { name = query.get('name') ?? '', md5Hash, metadata = {} } = resource;
  if (name === '' || Buffer.byteLength(name) > 1_024) throw invalid('Required');
  mayOn(project, call, 'storage.objects.create', bucketName, name);
  const before = bucket.objects.get(name);
  if (before !== undefined) mayOn(project, call, 'storage.objects.delete', bucketName, name);
  requireGeneration(query, before);
  const found = md5(content);
  if (md5Hash !== undefined && md5Hash !== found)
    throw invalid(`Provided MD5 hash "${md5Hash}" doesn't match calculated MD5 hash "${found}".`);
  const generation = String(BigInt(project.clock.nowMs()) * 1_000n + BigInt(digits(3)));
  const stored = { generation, bytes: content, metadata };
  bucket.objects.set(name, stored);
  return { status: 200, json: resourceOf(bucketName, name, stored) };
}

interface ObjectResource {
  name?: string;
  md5Hash?: string;
  metadata?: Record<string, string>;
}

function uploaded(
  query: URLSearchParams,
  contentType: string,
  body: Buffer,
): { resource: ObjectResource; content: Buffer } {
  if (query.get('uploadType') === 'media') return { resource: {}, content: body };
  if (query.get('uploadType') !== 'multipart') throw invalid('Invalid Upload Request');
  const [head, content] = parseMultipart(contentType, body);
  return { resource: JSON.parse(head.toString()), content };
}

/** 0: only if no object exists; another number: only that version. */
function requireGeneration(query: URLSearchParams, before: StoredObject | undefined): void {
  const wanted = query.get('ifGenerationMatch');
  if (wanted !== null && wanted !== (before?.generation ?? '0'))
    throw new GcpError(412, 'conditionNotMet', 'At least one of the pre-conditions you specified did not hold.');
}

function getObject(project: EmulatedProject, bucketName: string, name: string, call: StorageCall): StorageAnswer {
  const isMedia = call.query.get('alt') === 'media';
  try {
    const bucket = existing(project, bucketName);
    mayOn(project, call, 'storage.objects.get', bucketName, name);
    const found = bucket.objects.get(name);
    // Without the permission to list, a caller does not learn which objects do not exist.
    if (found === undefined) mayOn(project, call, 'storage.objects.list', bucketName, name);
    if (found === undefined) throw noObject(bucketName, name);
    if (!isMedia) return { status: 200, json: resourceOf(bucketName, name, found) };
    const headers = { 'x-goog-hash': `md5=${md5(found.bytes)}`, 'x-goog-generation': found.generation };
    return { status: 200, media: found.bytes, headers };
  } catch (error) {
    // Refusals of downloads are text.
    if (!isMedia || !(error instanceof GcpError)) throw error;
    return { status: error.status, media: Buffer.from(error.message) };
  }
}

function deleteObject(project: EmulatedProject, bucketName: string, name: string, call: StorageCall): StorageAnswer {
  const bucket = existing(project, bucketName);
  mayOn(project, call, 'storage.objects.delete', bucketName, name);
  if (!bucket.objects.has(name)) mayOn(project, call, 'storage.objects.list', bucketName, name);
  if (!bucket.objects.delete(name)) throw noObject(bucketName, name);
  return { status: 204 };
}

function listObjects(project: EmulatedProject, bucketName: string, call: StorageCall): StorageAnswer {
  const { query } = call;
  const bucket = existing(project, bucketName);
  mayOn(project, call, 'storage.objects.list', bucketName, '');
  const size = Math.min(Number(query.get('maxResults') ?? 1_000), 1_000);
  if (!(size >= 1)) throw invalid(`Invalid value for maxResults: ${query.get('maxResults')}`);
  const after = Buffer.from(query.get('pageToken') ?? '', 'base64').toString();
  const all = [...bucket.objects]
    .filter(([name]) => name.startsWith(query.get('prefix') ?? ''))
    .filter(([name]) => name >= (query.get('startOffset') ?? '') && name > after)
    .sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const items = all.slice(0, size).map(([name, object]) => resourceOf(bucketName, name, object));
  const last = all[size - 1]?.[0] ?? '';
  const next = all.length > size ? { nextPageToken: Buffer.from(last).toString('base64') } : {};
  return { status: 200, json: { kind: 'storage#objects', ...(items.length === 0 ? {} : { items }), ...next } };
}

function existing(project: EmulatedProject, name: string): Bucket {
  const found = project.buckets.get(name);
  if (found === undefined) throw new GcpError(404, 'notFound', 'The specified bucket does not exist.');
  return found;
}

function mayOn(
  project: EmulatedProject,
  { caller }: StorageCall,
  permission: string,
  bucket: string,
  object: string,
): void {
  const what = object === '' ? 'bucket' : 'object';
  project.access.require(
    caller,
    permission,
    `bucket:${bucket}`,
    ({ email }) =>
      new GcpError(
        403,
        'forbidden',
        `${email} does not have ${permission} access to the Google Cloud Storage ${what}. Permission '${permission}' denied on resource (or it may not exist).`,
      ),
  );
}

function insertBucket(project: EmulatedProject, call: StorageCall): StorageAnswer {
  const wanted: { name?: string; location?: string; labels?: Record<string, string> } = JSON.parse(
    call.body.toString(),
  );
  const { name = '', location = 'US', labels = {} } = wanted;
  if (call.query.get('project') !== project.id) throw invalid('Required parameter: project');
  mayOn(project, call, 'storage.buckets.create', name, '');
  if (!/^[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]$/.test(name)) throw invalid(`Invalid bucket name: '${name}'`);
  // Names are unique among all projects of Google.
  if (project.buckets.has(name))
    throw new GcpError(
      409,
      'conflict',
      'Your previous request to create the named bucket succeeded and you already own it.',
    );
  project.buckets.set(name, { ...createBucket(name, []), location, labels });
  return getBucket(project, name, null);
}

function getBucket(project: EmulatedProject, bucketName: string, call: StorageCall | null): StorageAnswer {
  if (call !== null) mayOn(project, call, 'storage.buckets.get', bucketName, '');
  const { name, location, labels } = existing(project, bucketName);
  return { status: 200, json: { kind: 'storage#bucket', id: name, name, location: location.toUpperCase(), labels } };
}

function deleteBucket(project: EmulatedProject, name: string, call: StorageCall): StorageAnswer {
  mayOn(project, call, 'storage.buckets.delete', name, '');
  if (existing(project, name).objects.size > 0)
    throw new GcpError(409, 'conflict', 'The bucket you tried to delete is not empty.');
  project.buckets.delete(name);
  project.iam.policies.delete(`bucket:${name}`);
  return { status: 204 };
}

function policyOf(project: EmulatedProject, bucket: string, call: StorageCall): StorageAnswer {
  const isGet = call.method === 'GET';
  mayOn(project, call, `storage.buckets.${isGet ? 'get' : 'set'}IamPolicy`, bucket, '');
  existing(project, bucket);
  const of = `bucket:${bucket}`;
  if (isGet) return { status: 200, json: { kind: 'storage#policy', ...project.iam.policyOf(of) } };
  try {
    return { status: 200, json: project.iam.setPolicy(of, JSON.parse(call.body.toString())) };
  } catch (error) {
    if (!(error instanceof GcpError) || error.status !== 409) throw error;
    throw new GcpError(412, 'conditionNotMet', 'At least one of the pre-conditions you specified did not hold.');
  }
}

const noObject = (bucket: string, name: string): GcpError =>
  new GcpError(404, 'notFound', `No such object: ${bucket}/${name}`);

const resourceOf = (bucket: string, name: string, { generation, bytes, metadata }: StoredObject): object => ({
  kind: 'storage#object',
  id: `${bucket}/${name}/${generation}`,
  ...{ name, bucket, generation, metageneration: '1', size: String(bytes.byteLength), md5Hash: md5(bytes) },
  ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
});

const md5 = (bytes: Buffer): string => createHash('md5').update(bytes).digest('base64');
