// PostgreSQL is restarted, in order and by a crash, under the whole stack at work: no accepted request is lost or runs twice.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createClient, type Client } from '../../sdk/client.ts';
import { findPostgres, type PostgresServer, startPostgres } from '../store/postgres-server.ts';
import { eventually } from '../support/eventually.ts';
import { startStack, type TestStack } from '../support/stack.ts';

const found = await findPostgres();
if ('missing' in found) console.log(`The test of a restart of PostgreSQL is left out. ${found.missing}`);

const ntasks = 30;

describe.runIf('directory' in found)('a stack whose PostgreSQL is restarted', () => {
  const out = mkdtempSync(join(tmpdir(), 'ropewalk-postgres-restart-'));
  let server: PostgresServer;
  let stack: TestStack;
  let client: Client;
  beforeAll(async () => {
    server = await startPostgres('directory' in found ? found.directory : '');
    stack = await startStack({ env: { ROPEWALK_DATABASE_URL: await server.createDatabase() } });
    client = createClient(stack);
  });
  afterAll(async () => {
    await stack?.stop();
    await server?.stop();
    rmSync(out, { recursive: true, force: true });
  });

  /** One key for each create, to repeat one whose answer was lost. */
  const create = (nth: number): Promise<number> =>
    eventually(async () => {
      try {
        const options = { idempotencyKey: `restart-${nth}` };
        const { number } = await client.jobs.create({ name: `restart-${nth}`, command: ['true'] }, options);
        return number;
      } catch (error) {
        expect(error).toMatchObject({ code: expect.stringMatching(/^(UNAVAILABLE|TIMEOUT|NETWORK)$/) });
        return null;
      }
    });

  it('finishes each accepted job once, and its lists agree', async () => {
    const command = ['bash', '-c', 'echo x >> "$OUT/$ROPEWALK_BATCH_TASK_ID"; sleep 0.3'];
    const long = await client.jobs.create({ command, env: { OUT: out }, ntasks, maxWorkers: 2 });
    await eventually(() => readdirSync(out).length > 0);
    const created: Promise<number>[] = [];
    for (const mode of ['fast', 'immediate', 'fast'] as const) {
      const before = readdirSync(out).length;
      created.push(create(created.length), create(created.length + 1));
      await server.restart(mode);
      created.push(create(created.length));
      await eventually(() => readdirSync(out).length > before || readdirSync(out).length === ntasks);
    }
    const numbers = await Promise.all(created);
    expect(new Set(numbers).size).toBe(numbers.length);
    for (const number of [long.number, ...numbers]) {
      expect(await eventually(() => client.jobs.wait(number).catch(() => null))).toMatchObject({ status: 'done' });
    }
    expect(readdirSync(out)).toHaveLength(ntasks);
    for (const task of readdirSync(out)) expect(readFileSync(join(out, task), 'utf8')).toBe('x\n');
    // The rows match the ended workflows.
    await eventually(async () => {
      const { items } = await client.jobs.list({ limit: 50 });
      return items.length === numbers.length + 1 && items.every(({ status }) => status === 'done');
    });
  });
});
