// The happy path of the EC2 provider against moto, software of other authors: it understands the same calls. Each difference
// between moto and EC2 is named and asserted: an update of moto that fixes one fails here.
import { afterAll, beforeAll, expect, it } from 'vitest';

import { createLogsApi } from '../../../agent/aws/logs-api.ts';
import { createEcrLogin } from '../../../agent/aws/registry.ts';
import { logGroupOf, logStreamOf } from '../../../domain/cloud-names.ts';
import { createAwsProvider } from '../../../providers/aws/provider.ts';
import type { LogLine, Offer, Provider } from '../../../providers/provider.ts';
import { awsSettings, freshOwner, placement, workersRequest } from '../../providers/aws-cloud.ts';
import { startEmulator } from '../emulator.ts';
import type { Emulator } from '../emulator.ts';
import { defaultNetwork, startMoto } from './moto.ts';
import type { Moto } from './moto.ts';

let moto: Moto;
let emulator: Emulator;
let provider: Provider;
beforeAll(async () => {
  [moto, emulator] = await Promise.all([startMoto(), startEmulator()]);
  process.env['AWS_ACCESS_KEY_ID'] = 'AKIATEST';
  process.env['AWS_SECRET_ACCESS_KEY'] = 'test';
  process.env['AWS_ENDPOINT_URL'] = moto.url;
  // moto has none of Canonical's public parameters, and rejects writes to them: the emulator names the image.
  process.env['AWS_ENDPOINT_URL_SSM'] = emulator.url;
  const network = await defaultNetwork(moto.url, awsSettings.region);
  provider = createAwsProvider({ settings: { ...awsSettings, ...network }, unseenMs: 1_000 });
}, 300_000);
afterAll(async () => {
  await Promise.all([moto?.stop(), emulator?.stop()]);
  delete process.env['AWS_ENDPOINT_URL_SSM'];
});

const idsOf = (instances: { id: string }[]): string[] => instances.map(({ id }) => id).sort();

it('launches a head instance and workers, finds them by their tags, and ends them with their templates', async () => {
  const owner = freshOwner();
  const workers = workersRequest(owner, 3, undefined, placement({ types: ['m6i.large', 'm5.large'] }));
  const request = { ...workers, slots: [{ slot: 0, generation: 1, role: 'head' as const }, ...workers.slots] };
  const { launched, failures } = await provider.launch(request);
  expect([launched.map(({ slot }) => slot), failures]).toEqual([[0, 1, 2, 3], []]);
  expect(new Set(launched.map(({ zone }) => zone)).size).toBe(1);
  // moto launches everything from the first override; EC2 chooses.
  expect(new Set(launched.map(({ offer }) => offer))).toEqual(new Set(['m6i.large']));

  const described = await provider.describe(owner, []);
  expect(idsOf(described)).toEqual(idsOf(launched));
  // In moto an instance runs from its first moment; in EC2 it is pending for seconds.
  for (const instance of described) expect(instance).toMatchObject({ owner, state: 'running' });
  expect(
    (await provider.listResources(owner.deploymentId)).filter(({ kind }) => kind === 'launch template'),
  ).toHaveLength(2);

  const [first = '', ...rest] = idsOf(launched);
  await provider.terminate(owner, [first], AbortSignal.timeout(60_000));
  expect(await provider.describe(owner, [first])).toContainEqual(expect.objectContaining({ id: first, state: 'gone' }));
  expect(idsOf(await provider.describe(owner, []))).toEqual(rest);
  await provider.terminate(owner, rest, AbortSignal.timeout(60_000));
  expect(await provider.describe(owner, [])).toEqual([]);
  expect(await provider.listResources(owner.deploymentId)).toEqual([]);
});

it('launches on the spot market, and lists a deployment without what is not of it', async () => {
  const owner = { ...freshOwner(), deploymentId: 'd_moto' };
  const other = { ...owner, deploymentId: 'd_other' };
  const request = workersRequest(owner, 2, undefined, placement({ market: 'spot' }));
  const { launched } = await provider.launch(request);
  const { launched: others } = await provider.launch(workersRequest(other, 1));
  expect(idsOf(await provider.list('d_moto'))).toEqual(idsOf(launched));
  // moto ignores client tokens: a repeat launches again. In EC2 it returns the instances of the first try.
  const again = await provider.launch(request);
  expect(idsOf(again.launched)).not.toEqual(idsOf(launched));
  expect(idsOf(await provider.list('d_moto'))).toEqual(idsOf([...launched, ...again.launched]));

  // Another owner's instances are not ended.
  const all = idsOf([...launched, ...again.launched, ...others]);
  await provider.terminate(owner, all, AbortSignal.timeout(60_000));
  expect([await provider.list('d_moto'), idsOf(await provider.list('d_other'))]).toEqual([[], idsOf(others)]);
  await provider.terminate(other, idsOf(others), AbortSignal.timeout(60_000));
});

it('reads what EC2 sells: types, zones, prices', async () => {
  const offers = await provider.offers({});
  const of = (type: string): Offer[] => offers.filter((offer) => offer.type === type);
  const [offer] = of('m6i.large').filter(({ market }) => market === 'on-demand');
  expect(offer).toMatchObject({
    vcpus: 2,
    memoryBytes: 8 * 2 ** 30,
    architecture: 'x86_64',
    gpus: 0,
    pricePerHour: 0.096,
  });
  expect(of('m7g.large')[0]).toMatchObject({ architecture: 'arm64' });
  expect(of('g4dn.xlarge')[0]).toMatchObject({ gpus: 1, gpuName: 'T4' });
  // moto has AWS's own data of the types of each zone, and not every zone has every type.
  expect(new Set(of('m6i.large').map(({ zone }) => zone)).size).toBeGreaterThan(3);
  expect(new Set(offers.map(({ type }) => type)).size).toBeGreaterThan(500);
  // moto has one price for everything.
  expect(new Set(offers.filter(({ market }) => market === 'spot').map(({ pricePerHour }) => pricePerHour))).toEqual(
    new Set([0.00001]),
  );
});

it('gives an agent a login to ECR', async () => {
  const role = { accessKeyId: 'a', secretAccessKey: 'b', sessionToken: 'c' };
  const login = createEcrLogin({ get: async () => role, forget: () => undefined }, moto.url);
  const host = '123456789012.dkr.ecr.us-east-1.amazonaws.com';
  const found = await login(`${host}/team/tool:1`);
  expect(Buffer.from(found?.[host]?.auth ?? '', 'base64').toString()).toMatch(/^AWS:.+/);
});

it("reads the lines that an agent's own small client has written", async () => {
  const owner = freshOwner();
  const instance = 'i-0123456789abcdef0';
  const api = createLogsApi({
    endpoint: moto.url,
    region: awsSettings.region,
    group: logGroupOf(owner.workspace),
    stream: logStreamOf(owner.cluster, instance),
    credentials: {
      get: () => Promise.resolve({ accessKeyId: 'a', secretAccessKey: 'b', sessionToken: 'c' }),
      forget: () => undefined,
    },
  });
  const atMs = Date.now();
  const events = ['one', 'two'].map((x, n) => ({
    timestamp: atMs + n,
    message: JSON.stringify({ n, k: 7, a: 1, s: 'stdout', x }),
  }));
  expect(await api.put(events)).toEqual({ kind: 'missing' });
  expect([await api.create(), await api.put(events)]).toEqual([{ kind: 'taken' }, { kind: 'taken' }]);
  const lines: LogLine[] = [];
  for await (const line of provider.logs({ owner })) lines.push(line);
  expect(lines.map(({ instance: of, task, stream, text }) => [of, task, stream, text])).toEqual([
    [instance, 7, 'stdout', 'one'],
    [instance, 7, 'stdout', 'two'],
  ]);
});
