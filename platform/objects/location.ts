// Where the object store is: a bucket with its settings in one URL, so that API, Temporal workers and commands get the same.
// s3://BUCKET/PREFIX?region=eu-central-1&endpoint=https://minio.example.com&pathStyle=true
import { z } from 'zod';

export interface BucketLocation {
  bucket: string;
  /** Empty, or with a slash at its end. */
  prefix: string;
  /** null: as the AWS SDK finds it (AWS_REGION, profile). */
  region: string | null;
  /** Of an S3-compatible server; null: AWS. */
  endpoint: string | null;
  /** The bucket is in the path of the URL instead of the host name, as many S3-compatible servers need. */
  pathStyle: boolean;
}

/** The variable ROPEWALK_OBJECTS. */
export const bucketLocation = z.string().transform((text, context): BucketLocation => {
  const parsed = parseLocation(text);
  if (typeof parsed !== 'string') return parsed;
  context.addIssue({ code: 'custom', message: parsed });
  return z.NEVER;
});

export const bucketLocationExample = 's3://my-bucket/ropewalk?region=eu-central-1';

/** The location, or what is wrong with the text. */
function parseLocation(text: string): BucketLocation | string {
  const url = URL.parse(text);
  if (url === null || url.protocol !== 's3:') return 'must be s3://BUCKET/PREFIX';
  if (url.username !== '' || url.password !== '') {
    return 'must not contain credentials: the AWS SDK reads them from its environment, a profile or the instance role';
  }
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(url.host)) return 'must name a bucket after s3://';
  const prefix = url.pathname.replace(/^\/+|\/+$/g, '');
  if (!/^([A-Za-z0-9_-][A-Za-z0-9._-]*(\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*)?$/.test(prefix) || prefix.length > 200) {
    return 'must have a prefix of letters, digits, ".", "_" and "-", at most 200 characters';
  }
  const settings = queryOf(url);
  if (typeof settings === 'string') return settings;
  return { bucket: url.host, prefix: prefix === '' ? '' : `${prefix}/`, ...settings };
}

function queryOf({ searchParams }: URL): Omit<BucketLocation, 'bucket' | 'prefix'> | string {
  const unknown = [...searchParams.keys()].find((name) => !['region', 'endpoint', 'pathStyle'].includes(name));
  if (unknown !== undefined) return `has an unknown setting ${unknown}: region, endpoint and pathStyle exist`;
  const [region, endpoint, pathStyle] = [
    searchParams.get('region'),
    searchParams.get('endpoint'),
    searchParams.get('pathStyle') ?? 'false',
  ];
  if (region !== null && !/^[a-z0-9-]{2,40}$/.test(region)) return 'must have a region such as eu-central-1';
  if (endpoint !== null && !/^https?:$/.test(URL.parse(endpoint)?.protocol ?? '')) {
    return 'must have an endpoint that is an http or https URL';
  }
  if (!/^(true|false)$/.test(pathStyle)) return 'must have pathStyle=true or pathStyle=false';
  return { region, endpoint, pathStyle: pathStyle === 'true' };
}
