// Files in and out of batch jobs, for every kind of content storage, with real agents and the command line.
import { mkdir, mkdtemp, readFile, readlink, symlink, writeFile, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { createClient, type ListedFile } from '../../sdk/client.ts';
import { type CliResult, runCli } from '../cli/run-cli.ts';
import { startStack, type TestStack } from '../support/stack.ts';

const hostile = ['with space', 'quote\'"$(x)', 'ümläut', '-rf', 'dots..', '\u202eright'];
/** Every byte: a decoding on the way would change them. */
const everyByte = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));

export interface Setup {
  stack: TestStack;
  place: string;
  cli: (...words: string[]) => Promise<CliResult>;
  filesOf: (job: number) => Promise<ListedFile[]>;
}

export async function prepare(env: Record<string, string>): Promise<Setup> {
  const stack = await startStack({ env });
  const place = await mkdtemp(join(tmpdir(), 'ropewalk-files-'));
  const cli = (...words: string[]) =>
    runCli(words, { cwd: place, env: { HOME: place, ROPEWALK_API_URL: stack.apiUrl, ROPEWALK_TOKEN: stack.token } });
  const filesOf = async (job: number): Promise<ListedFile[]> => {
    const files: ListedFile[] = [];
    for await (const file of createClient(stack).jobs.files(job)) files.push(file);
    return files;
  };
  return { stack, place, cli, filesOf };
}

export const numberIn = ({ stdout, stderr }: CliResult): number => Number(/Job (\d+)/.exec(stdout + stderr)?.[1]);

/** The tests for every kind of storage. */
export function describeFiles(setup: () => Setup): void {
  it('brings files to tasks and back, byte-exact, and keeps what differs between tasks apart', async () => {
    const { place, cli, filesOf } = setup();
    const data = join(place, 'data');
    await mkdir(join(data, 'sub'), { recursive: true });
    await writeFile(join(data, 'sub', 'in.bin'), everyByte);
    await writeFile(join(data, 'unchanged'), 'unchanged');
    await writeFile(join(data, 'changed'), 'before');
    for (const name of hostile) await writeFile(join(data, name), name);
    await writeFile(
      join(place, 'work.sh'),
      `#!/bin/sh
# ROPEWALK pipe-to-files
id=$ROPEWALK_BATCH_TASK_ID
cat sub/in.bin
echo "to stderr $id" >&2
mkdir -p out/deep
cp sub/in.bin "out/deep/$id.bin"
echo "of task $id" > same.txt
echo same > equal.txt
echo after > changed
for each in *; do [ -f "$each" ] && cp -- "$each" "out/$each"; done
printf newline > "$(printf 'line\\nbreak\\\\')"
printf x > "$(printf 'not-utf8-\\377')"
ln -s /etc/passwd link
ln -s / linked-directory
chmod 000 equal.txt
exit 0
`,
    );
    const result = await cli('batch', 'run', '--ntasks', '2', '--wait', '--sync', 'data', './work.sh');
    expect([result.code, result.stderr]).toEqual([0, expect.stringContaining('Downloaded')]);
    const read = (path: string) => readFile(join(data, path));
    const textOf = (path: string) => readFile(join(data, path), 'utf8');
    for (const id of [0, 1]) {
      expect(await read(`out/deep/${id}.bin`)).toEqual(everyByte);
      expect(await read(`task-${id}.out`)).toEqual(everyByte);
      expect(await textOf(`task-${id}.err`)).toBe(`to stderr ${id}\n`);
      expect(await textOf(`task-${id}/same.txt`)).toBe(`of task ${id}\n`);
    }
    expect([await textOf('changed'), await textOf('equal.txt')]).toEqual(['after\n', 'same\n']);
    for (const name of hostile) expect(await textOf(`out/${name}`)).toBe(name);
    expect(await textOf('line\nbreak\\')).toBe('newline');
    const number = numberIn(result);
    const paths = (await filesOf(number)).map(({ path }) => path);
    for (const absent of ['unchanged', 'link', 'linked-directory', 'sub/in.bin', 'work.sh'])
      expect(paths).not.toContain(absent);
    const logs = await cli('batch', 'logs', String(number));
    expect(logs.stdout).toContain('"link" is not stored: it is a symbolic link.');
    expect(logs.stdout).toContain('its name is not UTF-8');
    const listed = await cli('batch', 'files', String(number));
    expect(listed.stdout).toContain('out/deep/0.bin');
    expect(listed.stdout).not.toContain('\u202e');
  });

  it('uploads what is too large to go with the job, and hands files on from filestore to filestore', async () => {
    const { place, cli, filesOf } = setup();
    const big = Buffer.alloc(12 * 1_048_576, 'ropewalk');
    await writeFile(join(place, 'big.bin'), big);
    const first = ['--upload', 'big.bin', '--output-filestore', 'stage-1', '--ntasks', '2', '--wait'];
    const made = await cli('batch', 'run', ...first, 'sh', '-c', 'wc -c < big.bin > "size-$ROPEWALK_BATCH_TASK_ID"');
    expect([made.code, made.stderr]).toEqual([0, expect.any(String)]);
    expect((await filesOf(numberIn(made))).map(({ path }) => path).toSorted()).toEqual(['size-0', 'size-1']);
    const second = ['--input-filestore', 'stage-1', '--download', 'sum', '--wait'];
    const summed = await cli('batch', 'run', ...second, 'sh', '-c', 'cat size-0 size-1 > total');
    expect([summed.code, summed.stderr]).toEqual([0, expect.any(String)]);
    expect(await readFile(join(place, 'sum', 'total'), 'utf8')).toBe(`${big.length}\n${big.length}\n`);
    expect(await readdir(join(place, 'sum'))).toEqual(['total']);
    const unknown = await cli('batch', 'wait', String(numberIn(summed)), '--download', 'again');
    expect([unknown.code, await readFile(join(place, 'again', 'total'), 'utf8')]).toEqual([
      0,
      `${big.length}\n${big.length}\n`,
    ]);
  });

  it('does not write outside of the directory of --download', async () => {
    const { place, cli } = setup();
    const outside = join(place, 'outside');
    await mkdir(outside);
    await mkdir(join(place, 'trap'));
    await symlink(outside, join(place, 'trap', 'dir'));
    await symlink(join(outside, 'target'), join(place, 'trap', 'file'));
    const script = 'mkdir dir; echo x > dir/inner';
    const trapped = await cli('batch', 'run', '--wait', '--download', 'trap', 'sh', '-c', script);
    expect([trapped.code === 0, trapped.stderr]).toEqual([false, expect.stringContaining('would lie outside')]);
    const replaced = await cli('batch', 'run', '--wait', '--download', 'trap', 'sh', '-c', 'echo new > file');
    expect([replaced.code, replaced.stderr]).toEqual([0, expect.any(String)]);
    expect(await readdir(outside)).toEqual([]);
    expect(await readFile(join(place, 'trap', 'file'), 'utf8')).toBe('new\n');
    expect(await readlink(join(place, 'trap', 'dir'))).toBe(outside);
  });
}
