// `ropewalk prune` between two starts of a real stack: open work, a failed job and a schedule find all of their files afterwards.
import { createHash } from 'node:crypto';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterEach, expect, it } from 'vitest';

import { createClient } from '../../sdk/client.ts';
import { runCli } from '../cli/run-cli.ts';
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

async function upload({ apiUrl, token }: TestStack, text: string) {
  const body = Buffer.from(text);
  const content = { sha256: createHash('sha256').update(body).digest('hex'), bytes: body.byteLength };
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/octet-stream' };
  const answer = await fetch(`${apiUrl}/v1/file-blobs/${content.sha256}`, { method: 'PUT', headers, body });
  expect(answer.status).toBe(204);
  return content;
}

const blobs = async (): Promise<string[]> => (await readdir(join(home, 'objects', 'files', 'default'))).toSorted();

it('deletes the files of ended jobs, and none that a task will read', async () => {
  home = await makeHome();
  const flag = join(home, 'may-end');
  const first = await start();
  const { jobs, schedules } = createClient(first);
  const contents = await Promise.all(
    ['of a done job', 'of an open job', 'of a failed job', 'of a schedule', 'never used'].map((text) =>
      upload(first, text),
    ),
  );
  const [done, open, failed, scheduled, never] = contents;
  const list = await upload(first, '"one"\n"two"\n');
  if (!done || !open || !failed || !scheduled || !never) throw new Error('five were uploaded');
  const inputFile = (content: typeof done) => [{ path: 'input.txt', ...content }];
  const over = await jobs.create({ command: ['cat', 'input.txt'], inputFiles: inputFile(done) });
  expect(await jobs.wait(over.number)).toMatchObject({ status: 'done' });
  const broken = await jobs.create({
    command: ['sh', '-c', `cat input.txt; test -e ${flag}`],
    inputFiles: inputFile(failed),
  });
  expect(await jobs.wait(broken.number)).toMatchObject({ status: 'error' });
  const command = [
    'sh',
    '-c',
    `while [ ! -e ${flag} ]; do sleep 0.1; done; cat input.txt; echo "$ROPEWALK_BATCH_TASK_INPUT"`,
  ];
  const waiting = await jobs.create({
    ...{ command, inputFiles: inputFile(open), mapOver: { list: { ...list, count: 2 } }, storeFiles: true },
  });
  await schedules.create({
    ...{ name: 'yearly', cron: '0 3 1 1 *', job: { command: ['cat', 'input.txt'], inputFiles: inputFile(scheduled) } },
  });
  await eventually(async () => (await jobs.get(waiting.number)).tasks.running > 0);
  const refused = await runCli(['prune'], { env: { ROPEWALK_HOME: home, HOME: home } });
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringContaining('an API process of this deployment runs'),
  ]);
  await first.stop();

  const pruned = await runCli(['prune', '--format', 'json'], { env: { ROPEWALK_HOME: home, HOME: home } });
  expect([pruned.code, pruned.stderr]).toEqual([0, '']);
  expect(JSON.parse(pruned.stdout)).toMatchObject({ kept: 4, unused: 2 });
  expect(await blobs()).toEqual([open, failed, scheduled, list].map(({ sha256 }) => sha256).toSorted());

  const second = await start();
  const after = createClient(second);
  await writeFile(flag, '');
  expect(await after.jobs.wait(waiting.number)).toMatchObject({ status: 'done', tasks: { done: 2 } });
  const lines: string[] = [];
  for await (const { text } of after.jobs.logs(waiting.number)) lines.push(text);
  expect(lines.join('\n')).toMatch(/of an open job/);
  expect(lines.join('\n')).toMatch(/one/);
  const retry = await after.jobs.retry(broken.number);
  expect(await after.jobs.wait(retry.number)).toMatchObject({ status: 'done' });
  await after.schedules.trigger('yearly');
  const run = await eventually(async () => (await after.schedules.get('yearly')).runs[0]?.job ?? null);
  expect(await after.jobs.wait(run)).toMatchObject({ status: 'done' });
  await second.stop();
});
