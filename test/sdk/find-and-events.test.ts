// Finding by name, and the events of a job, against a real HTTP server that stands in for the API.
import { describe, expect, it } from 'vitest';

import { NotFoundError } from '../../sdk/client.ts';
import type { JobEvent } from '../../sdk/client.ts';
import { connect } from './open-stand-in.ts';
import { aCluster, aJob, anError } from './stand-in-api.ts';

describe('find', () => {
  it('returns the open object of that name, or null', async () => {
    const { client, api } = await connect(({ path, query }) => {
      const found = path === '/v1/jobs' ? aJob() : aCluster();
      return { json: { items: query['name'] === 'blue' ? [found] : [], next: null } };
    });
    expect((await client.jobs.find('blue'))?.number).toBe(12);
    expect((await client.clusters.find('blue'))?.number).toBe(7);
    expect(await client.jobs.find('red')).toBeNull();
    expect(api.requests[0]).toMatchObject({ path: '/v1/jobs', query: { name: 'blue', open: 'true', limit: '1' } });
    expect((await client.clusters.list({ name: 'blue' })).items).toHaveLength(1);
  });
});

describe('list', () => {
  it('sends its filters on, with every page', async () => {
    const { client, api } = await connect(({ query }) => ({
      json: { items: [aJob()], next: query['after'] === undefined ? '12' : null },
    }));
    const since = new Date('2026-11-22T10:00:00Z');
    const filter = { status: ['done', 'error'], user: 'ada', since, until: '2h', search: '50%', limit: 1 } as const;
    const jobs = [];
    for await (const job of client.jobs.list(filter)) jobs.push(job);
    expect(jobs).toHaveLength(2);
    const sent = { status: 'done,error', user: 'ada', since: since.toISOString(), until: '2h', q: '50%', limit: '1' };
    expect(api.requests.map(({ query }) => query)).toEqual([sent, { ...sent, after: '12' }]);
    await client.clusters.list({ kind: 'dask', status: 'ready', open: true });
    expect(api.requests.at(-1)).toMatchObject({
      path: '/v1/clusters',
      query: { kind: 'dask', status: 'ready', open: 'true' },
    });
  });
});

describe('the events of a job', () => {
  const event = (second: number, code: string, text = code): JobEvent => ({
    at: `2025-07-09T16:50:${second}.000Z`,
    code,
    text,
  });
  const all = [
    event(10, 'SUBMITTED'),
    event(11, 'STARTED'),
    event(12, 'TASK_FAILED', 'task 1'),
    event(12, 'TASK_FAILED', 'task 2'),
    event(13, 'ALL_DONE'),
  ];
  const ndjson = (events: readonly JobEvent[]): string[] => events.map((each) => `${JSON.stringify(each)}\n`);

  it.each([0, 1, 2, 3, 4, 5])(
    'are yielded once each when the connection of a followed answer is lost after %j of them',
    async (cut) => {
      const { client } = await connect((_, nth) => {
        if (nth === 1) return { chunks: ndjson(all.slice(0, cut)), ending: 'break' };
        // In the middle of a line, this time.
        if (nth === 2) return { chunks: [...ndjson(all.slice(0, cut)), '{"at":"2025-'], ending: 'break' };
        return { chunks: ndjson(all) };
      });
      const got: JobEvent[] = [];
      for await (const each of client.jobs.events(12, { follow: true })) got.push(each);
      expect(got).toEqual(all);
    },
  );

  it('end with the error of an incomplete answer, or are requested again when the error is temporary', async () => {
    const error = { code: 'UNAUTHENTICATED', message: 'The token is no longer good.', requestId: 'req_1' };
    const says = (status: number): string => `${JSON.stringify({ status, error })}\n`;
    const { client } = await connect((_, nth) => {
      if (nth === 1) return { chunks: [...ndjson(all.slice(0, 2)), says(503)], ending: 'break' };
      return { chunks: [...ndjson(all.slice(0, 3)), says(401)], ending: 'break' };
    });
    const got: JobEvent[] = [];
    const troubles: string[] = [];
    const reading = (async () => {
      const onUnreachable = ({ message }: { message: string }): void => void troubles.push(message);
      for await (const each of client.jobs.events(12, { follow: true, onUnreachable })) got.push(each);
    })();
    await expect(reading).rejects.toMatchObject({ name: 'AuthenticationError', ...error });
    expect([got, troubles]).toEqual([all.slice(0, 3), [error.message]]);
  });

  it('start at the given time, end with the signal, and close the connection when the loop is left', async () => {
    const { client, api } = await connect(() => ({ chunks: ndjson(all), ending: 'hang' }));
    for await (const { code } of client.jobs.events(12, { follow: true, since: new Date(0) })) {
      if (code === 'STARTED') break;
    }
    await expect.poll(api.aborted).toBe(1);
    expect(api.requests[0]).toMatchObject({
      path: '/v1/jobs/12/events',
      query: { follow: 'true', since: '1970-01-01T00:00:00.000Z' },
    });
    const stop = new AbortController();
    const got: string[] = [];
    const reading = (async () => {
      for await (const { code } of client.jobs.events(12, { follow: true, signal: stop.signal })) {
        got.push(code);
        if (got.length === all.length) stop.abort(new Error('enough'));
      }
    })();
    await expect(reading).rejects.toThrow('enough');
    expect(got).toHaveLength(all.length);
    await expect.poll(api.aborted).toBe(2);
  });

  it('of an unknown job are an error before the first event', async () => {
    const { client } = await connect(() => anError(404, { code: 'NOT_FOUND', message: 'There is no job 99.' }));
    await expect(client.jobs.events(99, { follow: true }).next()).rejects.toBeInstanceOf(NotFoundError);
  });
});
