import { describe, expect, it } from 'vitest';

import { ConnectionError, NotFoundError, runJob } from '../../sdk/client.ts';
import type { Client, LogLine } from '../../sdk/client.ts';
import { connect, token } from './open-stand-in.ts';
import { aJob, aLine, anError, aTask } from './stand-in-api.ts';
import type { Reply } from './stand-in-api.ts';

const busy = anError(503, { code: 'UNAVAILABLE', message: 'unavailable' }, { 'retry-after': '99' });

describe('lists', () => {
  const pages: Record<string, Reply> = {
    first: { json: { items: [aJob({ number: 3 }), aJob({ number: 2 })], next: 'two' } },
    two: { json: { items: [], next: 'three' } },
    three: { json: { items: [aJob({ number: 1 })], next: null } },
  };

  it('are one page when awaited, and all items when iterated', async () => {
    const { client, api } = await connect(({ query }) => pages[query['after'] ?? 'first'] ?? {});
    const page = await client.jobs.list({ limit: 2 });
    expect(page.next).toBe('two');
    expect(api.requests).toMatchObject([{ path: '/v1/jobs', query: { limit: '2' } }]);

    const numbers: number[] = [];
    for await (const job of client.jobs.list({ limit: 2 })) numbers.push(job.number);
    expect(numbers).toEqual([3, 2, 1]);
    expect(api.requests.slice(1).map(({ query }) => query['after'])).toEqual([undefined, 'two', 'three']);
  });

  it('start at the given page, and fetch no page that is not used', async () => {
    const { client, api } = await connect(({ query }) => pages[query['after'] ?? 'first'] ?? {});
    for await (const job of client.jobs.list()) {
      expect(job.number).toBe(3);
      break;
    }
    expect(api.requests).toHaveLength(1);
    expect((await client.jobs.list({ after: 'three' })).items).toHaveLength(1);
  });

  it('throw where they are awaited', async () => {
    const { client } = await connect(() => anError(404, { code: 'NOT_FOUND', message: 'no job 9' }));
    await expect(client.jobs.tasks(9)).rejects.toBeInstanceOf(NotFoundError);
    await expect(client.clusters.list()).rejects.toBeInstanceOf(NotFoundError);
  });

  it('have tasks', async () => {
    const { client, api } = await connect(() => ({ json: { items: [aTask()], next: null } }));
    expect((await client.jobs.tasks(12)).items).toEqual([aTask()]);
    expect(api.requests[0]?.path).toBe('/v1/jobs/12/tasks');
  });
});

describe('logs', () => {
  const lines = [
    aLine(),
    aLine({ task: 1, text: 'naïve 😀 \u2028 text' }),
    aLine({ task: null, stream: 'agent', text: '' }),
  ];
  const bytes = new TextEncoder().encode(`${lines.map((line) => JSON.stringify(line)).join('\n')}\n`);

  async function read(chunks: Reply['chunks'], ending: Reply['ending'] = 'end'): Promise<LogLine[]> {
    const { client } = await connect(() => ({ chunks: chunks ?? [], ending }));
    const all: LogLine[] = [];
    for await (const line of client.jobs.logs(12, { instances: true })) all.push(line);
    return all;
  }

  it('are what tasks print, and the messages of instances when they are asked for', async () => {
    const { client, api } = await connect(() => ({ chunks: [bytes] }));
    const texts: string[] = [];
    for await (const { text } of client.jobs.logs(12)) texts.push(text);
    expect(texts).toEqual([lines[0]?.text, lines[1]?.text]);
    expect(await read([bytes])).toHaveLength(3);
    expect(api.requests[0]?.query).toEqual({});
  });

  it.each([1, 2, 3, 7, 50, 10_000])('are complete lines when they arrive in chunks of %d bytes', async (size) => {
    const chunks: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.slice(at, at + size));
    expect(await read(chunks)).toEqual(lines);
  });

  it('need no line break at the end, and can have empty lines, which keep the connection open', async () => {
    expect(await read([`\n\n${JSON.stringify(lines[0])}\n\n${JSON.stringify(lines[1])}`])).toEqual(lines.slice(0, 2));
    expect(await read([])).toEqual([]);
  });

  it.each([
    [['{"at":'], 'break'],
    [['{"at":'], 'end'],
  ] as const)('that break off are an error: %j then %s', async (chunks, ending) => {
    await expect(read([...chunks], ending)).rejects.toBeInstanceOf(ConnectionError);
  });

  it('are an error when they are not lines of JSON, also when followed', async () => {
    const { client, api } = await connect(() => ({ chunks: ['nonsense\n'] }));
    await expect(client.jobs.logs(12, { follow: true }).next()).rejects.toMatchObject({ code: 'BAD_ANSWER' });
    expect(api.requests).toHaveLength(1);
  });

  it('continue after an outage when followed: every line once, also lines of equal times', async () => {
    const at = (second: number): string => `2025-07-09T16:50:${second}.000Z`;
    const all = [
      aLine({ at: at(10), text: 'a' }),
      aLine({ at: at(11), text: 'b' }),
      aLine({ at: at(11), text: 'b' }),
      aLine({ at: at(10), task: 1, text: 'late, but new' }),
      aLine({ at: at(11), text: 'b' }),
      aLine({ at: at(12), text: 'c' }),
    ];
    const ndjson = all.map((line) => `${JSON.stringify(line)}\n`);
    const unavailable = anError(503, { code: 'UNAVAILABLE', message: 'unavailable' }, { 'retry-after': '99' });
    const { client, api } = await connect((_, nth) => {
      if (nth === 1) return { chunks: ndjson.slice(0, 3), ending: 'break' };
      return nth === 2 ? unavailable : { chunks: ndjson };
    });
    const troubles: string[] = [];
    const got: LogLine[] = [];
    const options = { follow: true, tasks: '0-1', onUnreachable: (error: Error) => troubles.push(error.message) };
    for await (const line of client.jobs.logs(12, options)) got.push(line);
    expect(got).toEqual(all);
    expect(troubles).toEqual(['the connection was lost before the end of the answer', 'unavailable']);
    expect(api.requests.at(-1)?.query).toEqual({ tasks: '0-1', follow: 'true', since: '2025-07-09T16:49:11.000Z' });
  });

  it('never start before the given time, and keep lines of a clock that was set back', async () => {
    const lines = [
      aLine({ at: '2025-07-09T16:50:20.000Z' }),
      aLine({ at: '2025-07-09T16:50:10.000Z', text: 'earlier' }),
    ];
    const ndjson = lines.map((line) => `${JSON.stringify(line)}\n`);
    const { client, api } = await connect((_, nth) =>
      nth === 1 ? { chunks: ndjson, ending: 'break' } : { chunks: ndjson },
    );
    const since = '2025-07-09T16:50:00.000Z';
    const got: LogLine[] = [];
    for await (const line of client.jobs.logs(12, { follow: true, since })) got.push(line);
    expect(got).toEqual(lines);
    expect(api.requests.map(({ query }) => query['since'])).toEqual([since, since]);
  });

  it('are not requested again when not followed', async () => {
    const { client, api } = await connect(() => ({ chunks: [`${JSON.stringify(aLine())}\n`], ending: 'break' }));
    const reading = client.jobs.logs(12);
    await reading.next();
    await expect(reading.next()).rejects.toBeInstanceOf(ConnectionError);
    expect(api.requests).toHaveLength(1);
  });

  it('are requested with the parameters of the API', async () => {
    const { client, api } = await connect(() => ({ chunks: [] }));
    const ask = (options: Parameters<Client['jobs']['logs']>[1]): Promise<unknown> =>
      client.jobs.logs(12, options).next();
    await ask({ tasks: [1, 4], since: new Date(0) });
    await ask({ tasks: '2-4', follow: true, since: '2026-01-01T00:00:00+01:00' });
    expect(api.requests.map(({ query }) => query)).toEqual([
      { tasks: '1,4', since: '1970-01-01T00:00:00.000Z' },
      { tasks: '2-4', follow: 'true', since: '2025-12-31T23:00:00.000Z' },
    ]);
  });

  it('close the connection when the loop is left or the signal aborts', async () => {
    const { client, api } = await connect(() => ({ chunks: [`${JSON.stringify(aLine())}\n`], ending: 'hang' }));
    for await (const line of client.jobs.logs(12, { follow: true })) {
      expect(line).toEqual(aLine());
      break;
    }
    await expect.poll(() => api.aborted()).toBe(1);

    const controller = new AbortController();
    const following = client.jobs.logs(12, { follow: true, signal: controller.signal });
    await following.next();
    const next = following.next().catch((reason: unknown) => reason);
    controller.abort('enough');
    expect(await next).toBe('enough');
    await expect.poll(() => api.aborted()).toBe(2);
  });
});

describe('wait', () => {
  const running = aJob({ status: 'running', endedAt: null });

  it.each(['done', 'error', 'cancelled'] as const)('ends with the outcome %s and does not throw', async (status) => {
    const { client } = await connect((_, nth) => ({ json: nth < 3 ? running : aJob({ status }) }));
    const seen: string[] = [];
    const job = await client.jobs.wait(12, { pollMs: 5, onProgress: (view) => seen.push(view.status) });
    expect(job.status).toBe(status);
    expect(seen).toEqual(['running', 'running', status]);
  });

  it('continues through an outage, and reports it', async () => {
    const { client } = await connect((_, nth) => (nth === 1 ? { json: running } : nth < 4 ? busy : { json: aJob() }));
    const troubles: string[] = [];
    const job = await client.jobs.wait(12, { pollMs: 5, onUnreachable: (error) => troubles.push(error.code) });
    expect(job.status).toBe('done');
    expect(troubles).toEqual(['UNAVAILABLE', 'UNAVAILABLE']);
  });

  it('fails immediately when the first request fails, or later when the API refuses', async () => {
    const first = await connect(() => busy);
    await expect(first.client.jobs.wait(12)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    const gone = anError(404, { code: 'NOT_FOUND', message: 'gone' });
    const later = await connect((_, nth) => (nth === 1 ? { json: running } : gone));
    await expect(later.client.jobs.wait(12, { pollMs: 5 })).rejects.toBeInstanceOf(NotFoundError);
  });

  it('ends with the reason of its signal, and does not cancel the job', async () => {
    const { client, api } = await connect(() => ({ json: running }));
    const controller = new AbortController();
    const waiting = client.jobs.wait(12, { signal: controller.signal, onProgress: () => controller.abort('enough') });
    await expect(waiting).rejects.toBe('enough');
    expect(api.requests.every(({ method }) => method === 'GET')).toBe(true);
  });
});

describe('runJob', () => {
  it('creates a job, reports its number, waits, and returns the outcome', async () => {
    const failed = aJob({ status: 'error', tasks: { ...aJob().tasks, done: 9, error: 1 } });
    const { api } = await connect(({ method }, nth) => {
      if (method === 'POST') return { status: 201, json: { number: 12, name: 'n', existing: false, warnings: ['w'] } };
      return { json: nth < 3 ? aJob({ status: 'pending' }) : failed };
    });
    const numbers: number[] = [];
    const outcome = await runJob({
      apiUrl: api.url,
      token,
      pollMs: 5,
      command: ['my_script.sh'],
      ntasks: 10,
      onCreated: ({ number }) => numbers.push(number),
    });
    expect(outcome).toEqual({ ...failed, warnings: ['w'] });
    expect(numbers).toEqual([12]);
    expect(api.requests[0]?.body).toEqual({ command: ['my_script.sh'], ntasks: 10 });
  });
});
