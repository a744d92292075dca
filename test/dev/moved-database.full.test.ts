// A stack whose database was moved away, while Temporal still has its workflows: they are restored under their numbers.
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterEach, expect, it } from 'vitest';

import { createClient } from '../../sdk/client.ts';
import { eventually } from '../support/eventually.ts';
import { makeHome, removeHome, startStack, type TestStack } from '../support/stack.ts';

const stacks: TestStack[] = [];
let home = '';
afterEach(async () => {
  for (const stack of stacks.splice(0)) await stack.killAll('SIGKILL');
  await removeHome(home);
});

async function start(): Promise<TestStack> {
  const stack = await startStack({ home });
  stacks.push(stack);
  return stack;
}

it('adds the open jobs of Temporal to a new database, with their numbers, and makes another token', async () => {
  home = await makeHome();
  const flag = join(home, 'may-end');
  const first = await start();
  const command = ['sh', '-c', `while [ ! -e "${flag}" ]; do sleep 0.1; done`];
  const { number } = await createClient(first).jobs.create({ command });
  await eventually(async () => (await createClient(first).jobs.get(number)).tasks.running === 1);
  await first.stop();
  for (const name of (await readdir(home)).filter((each) => each.startsWith('ropewalk.db'))) {
    await rm(join(home, name));
  }

  const second = await start();
  // The ready file may be seen before the last lines of the output.
  await eventually(() => second.output().includes('the database does not accept the token in'));
  expect(second.output()).toContain(
    'the database is new, and Temporal is not: added 2 workflows of an earlier database',
  );
  expect(second.output()).toContain(`the database does not accept the token in ${join(home, 'config.yaml')}`);
  expect(second.token).not.toBe(first.token);
  const { jobs } = createClient(second);
  const next = await jobs.create({ command: ['true'] });
  expect(next.number).toBeGreaterThan(number);
  await writeFile(flag, '');
  expect(await jobs.wait(number)).toMatchObject({ number, status: 'done' });
  expect(await jobs.wait(next.number)).toMatchObject({ status: 'done' });
  await second.stop();
});
