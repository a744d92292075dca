// Google accepts a change, and its operation fails later: the provider's report. Oracle: the emulated project.
import { afterAll, beforeAll, expect, it } from 'vitest';

import { freshOwner, placement, startGcpCloud, workersRequest } from './gcp-cloud.ts';
import type { GcpTestCloud } from './gcp-cloud.ts';

let cloud: GcpTestCloud;
beforeAll(async () => {
  cloud = await startGcpCloud();
});
afterAll(() => cloud.close());

const error = { code: 'INTERNAL_ERROR', message: 'Internal error. Please try again.' };
const existing = async (): Promise<string[]> => (await cloud.emulator.ledger()).existing;

it('a deletion that failed is an error, and its repeat deletes the instance', async () => {
  const { emulator, provider } = cloud;
  const owner = freshOwner();
  const { launched } = await provider.launch(workersRequest(owner, 2));
  const ids = launched.map(({ id }) => id);
  await emulator.send({ op: 'failOperation', call: 'instances.delete', error });
  const terminate = () => provider.terminate(owner, ids, AbortSignal.timeout(30_000));
  await expect(terminate()).rejects.toThrow(/did not delete the instance rw-.*INTERNAL_ERROR: Internal error/);
  expect(await existing()).toHaveLength(1);
  await terminate();
  expect(await existing()).toEqual([]);
});

it('a firewall rule that was not created fails the launch of the head instance, and a repeat creates it', async () => {
  const { emulator, provider } = cloud;
  const owner = freshOwner();
  const ingress = { scheduler: { port: 8786, from: ['203.0.113.0/24'] }, ssh: null };
  const request = workersRequest(owner, 1);
  const slots = request.slots.map((slot) => ({ ...slot, role: 'head' as const }));
  const withRule = { ...request, slots, placement: { head: placement(), worker: placement(), oneZone: true, ingress } };
  await emulator.send({ op: 'failOperation', call: 'firewalls.insert', error });
  await expect(provider.launch(withRule)).rejects.toThrow(/Google Cloud is not available right now.*Internal error/);
  expect([await existing(), (await emulator.resources()).firewalls]).toEqual([[], []]);
  const quota = { code: 'QUOTA_EXCEEDED', message: "Quota 'FIREWALLS' exceeded." };
  await emulator.send({ op: 'failOperation', call: 'firewalls.insert', error: quota });
  const { failures } = await provider.launch(withRule);
  expect(failures).toMatchObject([
    { code: 'QUOTA_EXCEEDED', scope: 'quota', text: expect.stringContaining('FIREWALLS') },
  ]);
  const { launched } = await provider.launch(withRule);
  expect([launched.length, (await emulator.resources()).firewalls.length]).toEqual([1, 1]);
  await provider.terminate(
    owner,
    launched.map(({ id }) => id),
    AbortSignal.timeout(30_000),
  );
  await provider.release?.(owner, AbortSignal.timeout(30_000));
  expect([await existing(), (await emulator.resources()).firewalls]).toEqual([[], []]);
});
