// Regions over HTTP: the offers of each, the result of a request, and a region that is not configured.
import { describe, expect, it } from 'vitest';

import { catalogueOffers } from '../../providers/aws/catalogue.ts';
import { testCloud } from './providers.ts';
import { createTestApi } from './support.ts';

const portOf = (region: string, letters: string[]) => {
  const zones = letters.map((letter) => `${region}${letter}`);
  const offers = () => Promise.resolve(catalogueOffers('us-east-1', zones));
  return { region, zones, offers, queue: `provider/aws/${region}` };
};
const [east, west] = [portOf('us-east-1', ['a', 'b']), portOf('us-west-2', ['a'])];
const regionsApi = () => createTestApi({ providers: [testCloud({ places: [east, west] })] });

describe('regions', () => {
  it('have instance types of their own', async () => {
    const zonesIn = async (query: string) => {
      const reply = await (await regionsApi()).call('GET', `/v1/instance-types?prefix=m6i.&${query}`);
      const { items }: { items: { zones: string[] }[] } = await reply.json();
      expect(items.length).toBeGreaterThan(0);
      return [...new Set(items.flatMap(({ zones }) => zones))];
    };
    expect(await zonesIn('')).toEqual(east.zones);
    expect(await zonesIn('region=us-west-2')).toEqual(west.zones);
  });

  it.each([
    ['clusters', {}, east],
    ['clusters', { region: 'us-west-2' }, west],
    ['jobs', { command: ['true'], region: 'us-west-2' }, west],
    ['jobs', { command: ['true'], options: { region: 'us-west-2' } }, west],
  ])('%s %j go to the queue and the zones of theirs', async (kind, body, port) => {
    const api = await regionsApi();
    expect((await api.call('POST', `/v1/${kind}`, { body })).status).toBe(201);
    const [key = ''] = await api.objects.list('specs', { limit: 10 });
    const spec = JSON.parse(Buffer.from((await api.objects.get(key)) ?? new Uint8Array()).toString());
    const { region, zones, queue } = port;
    expect(spec.settings).toMatchObject({ providerQueue: queue, machines: { region, zones } });
    expect(await (await api.call('POST', `/v1/plans/${kind}`, { body })).json()).toMatchObject({ region, zones });
  });

  it.each([
    ['clusters', { region: 'eu-west-1' }, 'region', 'us-east-1, us-west-2'],
    ['clusters', { region: 'mars' }, 'region', 'us-west-2'],
    ['clusters', { region: 'us-west-2', zone: 'us-east-1a' }, 'zone', 'us-west-2a'],
    ['jobs', { command: ['true'], region: 'eu-west-1' }, 'region', 'us-east-1, us-west-2'],
  ])('%s %j are refused, naming %s and what there is', async (kind, body, field, named) => {
    const reply = await (await regionsApi()).call('POST', `/v1/${kind}`, { body });
    const { error } = await reply.json();
    expect([reply.status, error.field]).toEqual([422, field]);
    expect(`${error.message} ${error.hint}`).toContain(named);
  });
});
