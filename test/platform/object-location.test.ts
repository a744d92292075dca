// The operator's notation of the object store's location.
import { describe, expect, it } from 'vitest';

import { bucketLocation } from '../../platform/objects/location.ts';

describe('ROPEWALK_OBJECTS', () => {
  const read = (value: string) => bucketLocation.safeParse(value);

  it('is a bucket with a prefix and settings', () => {
    expect(read('s3://my-bucket').data).toEqual({
      ...{ kind: 's3', bucket: 'my-bucket', prefix: '', region: null, endpoint: null, pathStyle: false },
    });
    expect(read('s3://b.c-1/x/y/?region=eu-west-1&endpoint=http://127.0.0.1:9000&pathStyle=true').data).toEqual({
      ...{ kind: 's3', bucket: 'b.c-1', prefix: 'x/y/', region: 'eu-west-1' },
      ...{ endpoint: 'http://127.0.0.1:9000', pathStyle: true },
    });
    const mine = { kind: 'gs', bucket: 'my_bucket', prefix: 'x/', endpoint: null };
    expect(read('gs://my_bucket/x').data).toEqual({ ...mine, signing: null });
    expect(read('gs://my_bucket/x?signedUrls=true').data).toEqual({ ...mine, signing: { endpoint: null } });
    const signing = { endpoint: 'https://iam.example.com' };
    expect(read('gs://my_bucket/x?signedUrls=true&signingEndpoint=https://iam.example.com/').data).toEqual({
      ...{ ...mine, signing },
    });
    const local = { kind: 'gs', bucket: 'b-1', prefix: '', endpoint: 'http://127.0.0.1:4443', signing: null };
    expect(read('gs://b-1?endpoint=http://127.0.0.1:4443').data).toEqual(local);
  });

  it.each([
    ['', 'must be s3://BUCKET/PREFIX or gs://BUCKET/PREFIX'],
    ['https://storage.googleapis.com/bucket', 'must be s3://BUCKET/PREFIX or gs://BUCKET/PREFIX'],
    ['gs://', 'must name a bucket after gs://'],
    ['gs://key:secret@bucket', 'must not contain credentials: they are Application Default Credentials'],
    ['gs://bucket?region=us', 'has an unknown setting region'],
    ['gs://bucket?endpoint=file:///x', 'must have an endpoint'],
    ['gs://bucket?signedUrls=yes', 'must have signedUrls=true'],
    ['gs://bucket?signedUrls=true&signingEndpoint=x', 'must have an endpoint'],
    ['s3://under_score', 'must name a bucket after s3://'],
    ['s3://', 'must name a bucket'],
    ['s3://key:secret@bucket', 'must not contain credentials'],
    ['s3://bucket/a b', 'must have a prefix of letters'],
    ['s3://bucket/a/../../b%2f', 'must have a prefix of letters'],
    ['s3://bucket?color=red', 'has an unknown setting color'],
    ['s3://bucket?endpoint=file:///x', 'must have an endpoint'],
    ['s3://bucket?pathStyle=1', 'must have pathStyle'],
  ])('refuses %j', (value, reason) => {
    expect(read(value).error?.issues[0]?.message).toContain(reason);
  });
});
