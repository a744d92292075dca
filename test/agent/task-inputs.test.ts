// The input of each task on an instance, also from a list in the object store.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, it } from 'vitest';

import { MissingFile, type Transfers } from '../../agent/files/transfers.ts';
import { createTaskInputs } from '../../agent/job/task-inputs.ts';
import { InstanceFault } from '../../agent/processes/instance-fault.ts';
import { setOf } from '../../domain/job/task-set.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'ropewalk-inputs-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const { signal } = new AbortController();
const names = ['A', 'B'];

/** The list has `count` lines; the downloads fail with `errors` first. */
function open(content: string, { count = 4, chosen = null as string | null, errors = [] as Error[] } = {}) {
  const downloads: string[] = [];
  const transfers: Transfers = {
    upload: async () => undefined,
    download: async ({ sha256, target }) => {
      downloads.push(sha256);
      const error = errors.shift();
      if (error !== undefined) throw error;
      await writeFile(target, content, { flag: 'wx' });
    },
  };
  const list = { sha256: 'a'.repeat(64), bytes: 1, count };
  const read = createTaskInputs({ names, list, chosen }, transfers, join(directory, String(Math.random())));
  return { read: (index: number) => read(index, signal), downloads };
}

const lines = ['', 'two words', 'line\nbreak "ü" 🧵', '{}'];
const content = lines.map((line) => `${JSON.stringify(line)}\n`).join('');

it('each task gets its line byte for byte, and the list is downloaded once', async () => {
  for (const text of [content, content.trimEnd()]) {
    const { read, downloads } = open(text);
    const found = await Promise.all([3, 0, 1, 2].map(read));
    expect(found).toEqual([3, 0, 1, 2].map((index) => ({ A: lines[index], B: lines[index] })));
    expect(downloads).toHaveLength(1);
  }
});

it('lines may be sets of variables', async () => {
  const { read } = open('{"X":"1","Y":""}\n{}\n', { count: 2 });
  expect([await read(0), await read(1)]).toEqual([{ X: '1', Y: '' }, {}]);
});

it('lines are found across the pieces in which a large list is read', async () => {
  const count = 20_000;
  const { read } = open(Array.from({ length: count }, (_, at) => `"${at} ${'x'.repeat(at % 50)}"`).join('\n'), {
    count,
  });
  for (const index of [0, 1, 777, 12_345, count - 1])
    expect((await read(index))['A']).toBe(`${index} ${'x'.repeat(index % 50)}`);
});

it('a retry reads the lines of its tasks', async () => {
  const { read } = open(content, { chosen: setOf([1, 3], 4) });
  expect([(await read(0))['A'], (await read(1))['A']]).toEqual([lines[1], lines[3]]);
  await expect(read(2)).rejects.toThrow('none for this task');
});

it('a list without a line for the task, or with a damaged one, fails the task and not the instance', async () => {
  const { read } = open('"a"\nsecret\n5\n{"A":1}\n{"A B":"1"}\n"\\u0000"\n', { count: 9 });
  expect(await read(0)).toEqual({ A: 'a', B: 'a' });
  for (const index of [1, 2, 3, 4, 5]) {
    const error = await read(index).catch((thrown: unknown) => thrown);
    expect(error).not.toBeInstanceOf(InstanceFault);
    expect(String(error)).toContain('neither the JSON of a text nor of variables');
    expect(String(error)).not.toContain('secret');
  }
  await expect(read(6)).rejects.toThrow('has 6 lines, and none for this task');
});

it('a download that fails is the fault of the instance, and tried again; a list that is gone fails the task', async () => {
  const { read, downloads } = open(content, { errors: [new Error('refused'), new MissingFile('gone')] });
  await expect(read(1)).rejects.toThrow(InstanceFault);
  await expect(read(1)).rejects.toThrow('the list of inputs is unavailable: gone');
  expect(await read(1)).toEqual({ A: lines[1], B: lines[1] });
  expect(downloads).toHaveLength(3);
});

it('without a list inputs come from the bundle', async () => {
  const { upload, download } = { upload: async () => undefined, download: async () => undefined };
  const read = (inputs: Parameters<typeof createTaskInputs>[0], index: number) =>
    createTaskInputs(inputs, { upload, download }, 'none')(index, signal);
  expect(await read(null, 3)).toEqual({});
  expect(await read({ names, values: ['a', 'b'] }, 1)).toEqual({ A: 'b', B: 'b' });
  expect(await read({ variables: [{ X: '1' }] }, 0)).toEqual({ X: '1' });
});
