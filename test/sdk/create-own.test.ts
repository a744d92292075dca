// Jobs and clusters belong to their caller although the answer to the first request was lost and the SDK repeated it.
import { expect, it } from 'vitest';

import { createClient } from '../../sdk/client.ts';
import { ConflictError } from '../../sdk/errors.ts';

/** An API that creates by name and key as the real one does, and loses the answer to the first of each `lose`. */
function losingApi(lose: number) {
  const byKey = new Map<string, number>();
  const byName = new Map<string, number>();
  const requested: string[] = [];
  let left = lose;
  const answer = (status: number, body: unknown) =>
    new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } });
  const decide = (key: string, { name = '', getOrCreate }: { name?: string; getOrCreate?: boolean }): Response => {
    const known = byKey.get(key) ?? (getOrCreate === true ? byName.get(name) : undefined);
    if (known !== undefined) return answer(200, { number: known, name, existing: true, warnings: [] });
    if (byName.has(name)) {
      return answer(409, { error: { code: 'NAME_TAKEN', message: 'taken', requestId: 'req_1' } });
    }
    const number = byKey.size + 1;
    byKey.set(key, number);
    if (name !== '') byName.set(name, number);
    return answer(201, { number, name, existing: false, warnings: [] });
  };
  const fetch = async (_: unknown, { headers, body }: RequestInit = {}): Promise<Response> => {
    const wanted = JSON.parse(typeof body === 'string' ? body : '{}');
    requested.push(`${wanted.name ?? ''} ${wanted.getOrCreate}`);
    const decided = decide(new Headers(headers).get('idempotency-key') ?? '', wanted);
    left -= 1;
    if (left >= 0) throw new TypeError('fetch failed');
    return decided;
  };
  return { client: createClient({ apiUrl: 'http://127.0.0.1:1', token: 't', fetch }), byName, requested };
}

it("a cluster whose answer was lost is the caller's own", async () => {
  const { client } = losingApi(1);
  expect(await client.clusters.create({ name: 'mine' })).toMatchObject({ number: 1, existing: false });
});

it("a job whose answer was lost is the caller's own", async () => {
  const { client } = losingApi(1);
  expect(await client.jobs.create({ command: ['true'] })).toMatchObject({ number: 1, existing: false });
});

it('a cluster that had the name before exists already', async () => {
  const { client, byName, requested } = losingApi(0);
  byName.set('shared', 7);
  expect(await client.clusters.create({ name: 'shared' })).toMatchObject({ number: 7, existing: true });
  expect(requested).toEqual(['shared false', 'shared true']);
});

it('a taken name is an error when a new cluster is wanted', async () => {
  const { client, byName, requested } = losingApi(0);
  byName.set('shared', 7);
  await expect(client.jobs.create({ command: ['true'], name: 'shared' })).rejects.toThrow(ConflictError);
  await expect(client.clusters.create({ name: 'shared', getOrCreate: false })).rejects.toThrow(ConflictError);
  expect(requested).toEqual(['shared undefined', 'shared false']);
});
