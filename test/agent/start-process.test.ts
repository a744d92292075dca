// A command that does not start: whether its instance is the reason, or the command.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, it } from 'vitest';

import { InstanceFault } from '../../agent/processes/instance-fault.ts';
import { startProcess } from '../../agent/processes/start-process.ts';

let scratch: string;
let file: string;
beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'ropewalk-start-'));
  file = join(scratch, 'file');
  await writeFile(file, '');
});
afterAll(() => rm(scratch, { recursive: true, force: true }));

const start = (argv: string[], cwd: string): Promise<unknown> => {
  const output = { append: () => true, drained: () => Promise.resolve() };
  return startProcess({ argv, env: {}, cwd }, { output, pipeDirectory: scratch }).catch((error: unknown) => error);
};

it.each([
  ['a file is in place of its directory', () => file, 'it is a file'],
  ['the directory of its directory is a file', () => join(file, 'task'), 'ENOTDIR: not a directory'],
  ['its directory is gone', () => join(scratch, 'gone'), 'ENOENT: no such file or directory'],
])('the instance is the reason where %s', async (_, cwd, reason) => {
  const error = await start(['/bin/true'], cwd());
  expect(error).toBeInstanceOf(InstanceFault);
  expect(error).toMatchObject({ message: `the command's directory cannot be used: ${reason}` });
});

it('the command is the reason where there is no such program', async () => {
  for (const [program, code] of [
    ['/nowhere/program', 'ENOENT'],
    [join(file, 'program'), 'ENOTDIR'],
  ] as const) {
    const error = await start([program], scratch);
    expect(error).not.toBeInstanceOf(InstanceFault);
    expect(error).toMatchObject({ code });
  }
});
