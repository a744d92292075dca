// What may answer in Dask's place is a program of people's own, on their machine: nothing that it says may end the API, whose
// one connection to an agent carries everybody's pages. Nor may an agent that comes late keep an API from ending.
import { afterEach, describe, expect, it } from 'vitest';

import { eventually } from '../support/eventually.ts';
import { cluster, connect, createBench, type Bench } from './support.ts';

let bench: Bench;
afterEach(() => bench.end());

describe('a target that answers what is no answer of HTTP', () => {
  for (const status of ['000', '001', '099', '101', '999']) {
    it(`is told as such, e.g. the status ${status}`, async () => {
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

describe('an agent whose admission is under way when the API is told to end', () => {
  it('is hung up on, so that the API ends', async () => {
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
