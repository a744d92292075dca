// The emulated project, used by Google's own client for Python, which knows nothing of Ropewalk: it waits for operations, reads
// pages and understands refusals.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, expect, it } from 'vitest';

import { type GcpEmulator, startGcpEmulator } from '../gcp/emulator.ts';
import { computePython } from './python.ts';

let emulator: GcpEmulator;
beforeAll(async () => {
  emulator = await startGcpEmulator();
});
afterAll(() => emulator.stop());

it('launches, lists, refuses and deletes for google-cloud-compute', { timeout: 600_000 }, async () => {
  // No operation is done when its call is answered.
  await emulator.send({ op: 'delays', pendingMs: 200, changeMs: 200, shutdownMs: 200 });
  const script = join(import.meta.dirname, 'gce_client.py');
  const { stdout } = await promisify(execFile)(await computePython(), [script, emulator.url]);
  const launched = (name: string) => [name, 'RUNNING', 'us-central1-a', 'n2-standard-2'];
  expect(JSON.parse(stdout)).toEqual({
    instances: [launched('from-python-1'), launched('from-python-2')],
    rule: [['203.0.113.0/24'], 'tcp', ['22']],
    taken: [409, 'alreadyExists'],
    unknownType: [400, 'invalid'],
    gone: [404, 'notFound'],
    left: [],
    types: [4, 16_384],
  });
  expect((await emulator.ledger()).existing).toEqual([]);
  const { calls } = await emulator.counts();
  for (const call of ['regionOperations.get', 'zoneOperations.get', 'globalOperations.get'])
    expect(calls[call]).toBeGreaterThan(0);
});
