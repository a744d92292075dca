// Admission under load: many parallel creates (`CREATES`) while the API is killed, and one key a hundred times. Counted outside
// the product: on the Temporal server, and in the files that tasks write.
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Client as TemporalClient, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createClient } from '../../sdk/client.ts';
import type { Client } from '../../sdk/client.ts';
import { ConnectionError, ServerError } from '../../sdk/errors.ts';
import { eventually } from '../support/eventually.ts';
import { isAlive } from '../support/kills.ts';
import { startStack } from '../support/stack.ts';
import type { TestStack } from '../support/stack.ts';

/** Each is a job with an agent of its own, a second of a core. */
const count = Number(process.env['CREATES'] ?? 40);

describe('admission', () => {
  const out = mkdtempSync(join(tmpdir(), 'ropewalk-admission-'));
  let stack: TestStack;
  let client: Client;
  let connection: Connection;
  let temporal: TemporalClient;
  beforeAll(async () => {
    stack = await startStack();
    client = createClient({ apiUrl: stack.apiUrl, token: stack.token });
    connection = await Connection.connect({ address: stack.temporalAddress });
    temporal = new TemporalClient({ connection, namespace: stack.namespace });
  });
  afterAll(async () => {
    await connection.close();
    await stack.stop();
    rmSync(out, { recursive: true, force: true });
  });

  it(`admits ${count} parallel creates, none twice, with the API killed in the middle`, async () => {
    const input = (index: number) => ({
      command: ['bash', '-c', 'echo "$$" >> "$OUT/create-$INDEX"'],
      env: { OUT: out, INDEX: String(index) },
    });
    const { api } = await stack.childPids();
    expect(api).toBeDefined();
    if (api === undefined) return;
    const creates = Array.from({ length: count }, (_, index) => createThough(client, input(index), `create-${index}`));
    // Specifications are written before admission: when some exist, requests are at every stage.
    const specs = join(stack.home, 'objects/specs/default');
    await eventually(() => existsSync(specs) && readdirSync(specs).length >= count / 4, { intervalMs: 1 });
    const answeredBefore = await countSettled(creates);
    process.kill(api, 'SIGKILL');
    await eventually(() => !isAlive(api));
    const created = await Promise.all(creates);
    console.log(`API ${api} killed after ${answeredBefore} of ${count} answers`);
    expect(answeredBefore).toBeLessThan(count);

    const numbers = created.map((each) => each.number);
    expect(new Set(numbers).size).toBe(count);
    await eventually(() => readdirSync(out).length === count, { timeoutMs: 150_000, intervalMs: 250 });
    await eventually(
      async () =>
        (await Promise.all(numbers.map(async (n) => (await client.jobs.get(n)).status))).every((s) => s === 'done'),
      { timeoutMs: 150_000, intervalMs: 500 },
    );
    expect(await jobsOnServer(temporal)).toBe(count);
    for (const name of readdirSync(out)) {
      expect(readFileSync(join(out, name), 'utf8').trim().split('\n').length, `${name} was run once`).toBe(1);
    }
  });

  it('makes one job of the same Idempotency-Key sent 100 times', async () => {
    const before = await jobsOnServer(temporal);
    const repeated = Array.from({ length: 100 }, () =>
      client.jobs.create({ command: ['true'] }, { idempotencyKey: 'the-same-key' }),
    );
    const created = await Promise.all(repeated);
    expect(new Set(created.map((each) => each.number)).size).toBe(1);
    expect(created.filter((each) => !each.existing).length).toBe(1);
    await expect(client.jobs.create({ command: ['false'] }, { idempotencyKey: 'the-same-key' })).rejects.toMatchObject({
      code: 'IDEMPOTENCY_MISMATCH',
      status: 409,
    });
    await eventually(async () => (await client.jobs.get(created[0]?.number ?? 0)).status === 'done');
    expect(await jobsOnServer(temporal)).toBe(before + 1);
  });
});

/**
 * Retries as a caller does that uses the key correctly: on a slow machine an API takes longer to restart than the SDK retries,
 * and a Temporal with a hundred creates before it longer still.
 */
async function createThough(
  client: Client,
  input: Parameters<Client['jobs']['create']>[0],
  idempotencyKey: string,
): ReturnType<Client['jobs']['create']> {
  for (const deadlineMs = Date.now() + 60_000; ;) {
    try {
      return await client.jobs.create(input, { idempotencyKey });
    } catch (error) {
      const mayPass = error instanceof ConnectionError || (error instanceof ServerError && error.status === 503);
      if (!mayPass || Date.now() > deadlineMs) throw error;
    }
  }
}

async function countSettled(creates: Promise<unknown>[]): Promise<number> {
  const pending = Symbol('pending');
  const now = await Promise.all(creates.map((create) => Promise.race([create, Promise.resolve(pending)])));
  return now.filter((value) => value !== pending).length;
}

/** Job workflows by id, continued runs counted once. Visibility lags: the count is repeated until two consecutive ones agree. */
async function jobsOnServer(temporal: TemporalClient): Promise<number> {
  let last = -1;
  return eventually(
    async () => {
      const ids = new Set<string>();
      for await (const each of temporal.workflow.list({ query: "WorkflowType = 'job'" })) ids.add(each.workflowId);
      const stable = ids.size === last;
      last = ids.size;
      return stable ? ids.size + 1 : null;
    },
    { intervalMs: 1_000 },
  ).then((count) => count - 1);
}
