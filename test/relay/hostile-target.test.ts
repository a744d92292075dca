// The user's own program may answer in Dask's place: none of its answers may end the API, whose one connection to an agent
// carries the pages of all users. Nor may an agent that connects late prevent an API from ending.
import { afterEach, describe, expect, it } from 'vitest';

import { eventually } from '../support/eventually.ts';
import { cluster, connect, createBench, type Bench } from './support.ts';

let bench: Bench;
afterEach(() => bench.end());

describe('a target whose answer is not valid HTTP', () => {
  for (const status of ['000', '001', '099', '101', '999']) {
    it(`gets the browser a 502, e.g. for the status ${status}`, async () => {
      const made = await connect((request, response) => {
        if (request.url === '/workers') return void response.end('the page');
        response.socket?.end(`HTTP/1.1 ${status} X\r\ncontent-length: 0\r\n\r\n`);
      });
      ({ bench } = made);
      expect((await bench.see('/status')).status).toBe(502);
      expect((await bench.see('/workers')).body).toBe('the page');
      await eventually(() => made.relay.hub.streams(cluster) === 0);
    });
  }
});

describe('an agent whose admission is under way when the API ends', () => {
  it('is disconnected, so that the API can end', async () => {
    const lookedUp = Promise.withResolvers<void>();
    const isAsked = Promise.withResolvers<void>();
    bench = await createBench({
      views: {
        clusterOfAgent: async () => {
          isAsked.resolve();
          await lookedUp.promise;
          return bench.viewNow();
        },
      },
    });
    const api = await bench.startApi();
    const agent = await bench.startAgent(null);
    await isAsked.promise;
    const ended = api.end();
    lookedUp.resolve();
    await ended;
    expect(api.relay.hub.open(cluster)).toBe('away');
    await agent.end();
  });
});
