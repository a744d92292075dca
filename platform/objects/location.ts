// The location of the object store: a bucket with its settings in one URL, shared by the API, Temporal workers and commands.
//   s3://BUCKET/PREFIX?region=eu-central-1&endpoint=https://minio.example.com&pathStyle=true
//   gs://BUCKET/PREFIX?signedUrls=true
import { z } from 'zod';

import { RopewalkError } from '../../domain/errors.ts';

export type BucketLocation = S3Location | GcsLocation;

interface Common {
  bucket: string;
  /** Empty, or ends with a slash. */
  prefix: string;
}

export interface S3Location extends Common {
  kind: 's3';
  /** null: the AWS SDK finds it (AWS_REGION, profile). */
  region: string | null;
  /** Endpoint of an S3-compatible server; null for AWS. */
  endpoint: string | null;
  /** Puts the bucket in the URL's path instead of the host name, as many S3-compatible servers require. */
  pathStyle: boolean;
}

/** A bucket of Google Cloud Storage. */
export interface GcsLocation extends Common {
  kind: 'gs';
  /** A private endpoint or an emulator; null: storage.googleapis.com. */
  endpoint: string | null;
  /** Content of files goes to and from the bucket by signed URLs; null: through the API. `endpoint` of IAM, which signs; null: Google's. */
  signing: { endpoint: string | null } | null;
}

/** As in ROPEWALK_OBJECTS, without settings. */
export const locationName = ({ kind, bucket, prefix }: BucketLocation): string => `${kind}://${bucket}/${prefix}`;

/** The variable ROPEWALK_OBJECTS. */
export const bucketLocation = z.string().transform((text, context): BucketLocation => {
  const parsed = parseLocation(text);
  if (typeof parsed !== 'string') return parsed;
  context.addIssue({ code: 'custom', message: parsed });
  return z.NEVER;
});

export const bucketLocationExample = 's3://my-bucket/ropewalk?region=eu-central-1';

/**
 * For programs that do not validate their whole environment. Null when no bucket is named.
 * @throws RopewalkError VALIDATION
 */
export function readBucket(env: Readonly<Record<string, string | undefined>>): BucketLocation | null {
  const text = env['ROPEWALK_OBJECTS'] ?? '';
  if (text === '') return null;
  const parsed = parseLocation(text);
  if (typeof parsed !== 'string') return parsed;
  throw new RopewalkError({
    code: 'VALIDATION',
    message: `ROPEWALK_OBJECTS ${parsed}.`,
    hint: `For example: ROPEWALK_OBJECTS=${bucketLocationExample}`,
  });
}

/** The location, or the error in the text. */
function parseLocation(text: string): BucketLocation | string {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 's3:' && url.protocol !== 'gs:'))
    return 'must be s3://BUCKET/PREFIX or gs://BUCKET/PREFIX';
  const isS3 = url.protocol === 's3:';
  if (url.username !== '' || url.password !== '') {
    return isS3
      ? 'must not contain credentials: the AWS SDK reads them from its environment, a profile or the instance role'
      : 'must not contain credentials: they are Application Default Credentials';
  }
  const bucketName = isS3 ? /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/ : /^[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]$/;
  if (!bucketName.test(url.host)) return `must name a bucket after ${url.protocol}//`;
  const prefix = url.pathname.replace(/^\/+|\/+$/g, '');
  if (!/^([A-Za-z0-9_-][A-Za-z0-9._-]*(\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*)?$/.test(prefix) || prefix.length > 200) {
    return 'must have a prefix of letters, digits, ".", "_" and "-", at most 200 characters';
  }
  const settings = isS3 ? s3SettingsOf(url) : gcsSettingsOf(url);
  if (typeof settings === 'string') return settings;
  return { bucket: url.host, prefix: prefix === '' ? '' : `${prefix}/`, ...settings };
}

function s3SettingsOf({ searchParams }: URL): Omit<S3Location, 'bucket' | 'prefix'> | string {
  const unknown = unknownIn(searchParams, ['region', 'endpoint', 'pathStyle']);
  if (unknown !== null) return `has an unknown setting ${unknown}: region, endpoint and pathStyle exist`;
  const [region, endpoint, pathStyle] = [
    searchParams.get('region'),
    searchParams.get('endpoint'),
    searchParams.get('pathStyle') ?? 'false',
  ];
  if (region !== null && !/^[a-z0-9-]{2,40}$/.test(region)) return 'must have a region such as eu-central-1';
  if (!isEndpoint(endpoint)) return wrongEndpoint;
  if (!/^(true|false)$/.test(pathStyle)) return 'must have pathStyle=true or pathStyle=false';
  return { kind: 's3', region, endpoint, pathStyle: pathStyle === 'true' };
}

function gcsSettingsOf({ searchParams }: URL): Omit<GcsLocation, 'bucket' | 'prefix'> | string {
  const unknown = unknownIn(searchParams, ['endpoint', 'signedUrls', 'signingEndpoint']);
  if (unknown !== null) return `has an unknown setting ${unknown}: endpoint, signedUrls and signingEndpoint exist`;
  const endpoint = searchParams.get('endpoint');
  const signingEndpoint = searchParams.get('signingEndpoint')?.replace(/\/+$/, '') ?? null;
  const signedUrls = searchParams.get('signedUrls') ?? 'false';
  if (!/^(true|false)$/.test(signedUrls)) return 'must have signedUrls=true or signedUrls=false';
  if (!isEndpoint(endpoint) || !isEndpoint(signingEndpoint)) return wrongEndpoint;
  return { kind: 'gs', endpoint, signing: signedUrls === 'true' ? { endpoint: signingEndpoint } : null };
}

const unknownIn = (settings: URLSearchParams, known: readonly string[]): string | null =>
  [...settings.keys()].find((name) => !known.includes(name)) ?? null;

const isEndpoint = (endpoint: string | null): boolean =>
  endpoint === null || /^https?:$/.test(URL.parse(endpoint)?.protocol ?? '');
const wrongEndpoint = 'must have an endpoint that is an http or https URL';
