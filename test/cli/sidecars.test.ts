// The file of --scheduler-sidecar-spec: what Coiled's client reads, and what is refused before anything is sent.
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { readSidecars } from '../../cli/sidecars.ts';
import { withDirectory } from './run-cli.ts';
import { submitJob } from './submit-job.ts';

const mapping = `
mlflow:
  image: astral/uv:debian-slim
  command: >-
    uvx mlflow server --host 0.0.0.0
    --port 5000 --name 'two words'
  ports:
    - 5000
cache:
  container: redis:8
  environment: [A=1, B=x=y]
`;
const read = [
  {
    name: 'mlflow',
    container: 'astral/uv:debian-slim',
    command: ['uvx', 'mlflow', 'server', '--host', '0.0.0.0', '--port', '5000', '--name', 'two words'],
    ports: [5000],
  },
  { name: 'cache', container: 'redis:8', env: { A: '1', B: 'x=y' } },
];

it('sidecars are read from YAML or JSON, as a mapping or as a list', async () => {
  expect(readSidecars(mapping, 'a.yaml')).toEqual(read);
  const list = [{ name: 'cache', image: 'redis:8', command: ['redis-server', '--port', 6400], env: { A: 1, B: true } }];
  expect(readSidecars(JSON.stringify(list), 'a.json')).toEqual([
    {
      ...{ name: 'cache', container: 'redis:8', command: ['redis-server', '--port', '6400'] },
      env: { A: '1', B: 'true' },
    },
  ]);
  await withDirectory(async (cwd) => {
    await writeFile(join(cwd, 'side.yaml'), mapping);
    const sent = await submitJob(['--scheduler-sidecar-spec', 'side.yaml', 'true'], { cwd });
    expect(sent.body).toEqual({ command: ['true'], schedulerSidecars: read });
    await writeFile(join(cwd, 'job.sh'), '# COILED scheduler-sidecar-spec side.yaml\n');
    const byHeader = await submitJob(['job.sh'], { cwd });
    expect(byHeader.body).toMatchObject({ schedulerSidecars: read, clientOptions: ['scheduler-sidecar-spec'] });
    await writeFile(join(cwd, 'job.sh'), '# COILED scheduler-sidecar-spec ../side.yaml\n');
    const outside = await submitJob(['job.sh'], { cwd });
    expect([outside.code, outside.stderr]).toEqual([2, expect.stringContaining('outside the current directory')]);
  });
});

it.each([
  ['{}', 'it names no container'],
  ['just text', 'it names no container'],
  ['a: {command: x}', 'a has no image'],
  ['- image: x', 'each container needs a name'],
  ['a: {image: x, volumes: [/]}', 'volumes is not known'],
  ['a: {image: x, filestores: [{name: mlflow}]}', 'filestores are not kept'],
  ['a: {image: x, command: {}}', 'command is neither text nor a list'],
  ['a: {image: x, command: "sleep 1 | cat"}', 'command is neither text nor a list'],
  ['a: {image: x, env: [A]}', 'write variables as KEY: value'],
  ['a: {image: x, ports: 6379}', 'a.yaml: a: ports is no list'],
  ['a: {image: x, ports: ["6379:6379"]}', 'a.yaml: a: ports: 6379:6379 is no port'],
  ['a: {image: x, ports: [true]}', 'a.yaml: a: ports: true is no port'],
  ['a: {image: x, ports: [65536]}', 'a.yaml: a: ports: 65536 is no port'],
  ['a: {image: x, env: 5}', 'write variables as KEY: value'],
  ['5', 'it names no container'],
  ['a: [', '--scheduler-sidecar-spec: a.yaml: '],
])('%s is refused', (text, why) => {
  expect(() => readSidecars(text, 'a.yaml')).toThrow(why);
});

/** python/tests/test_sidecar_files.py reads the same cases. */
const shared: {
  read: { text: string; command?: string[]; env?: object; ports?: number[]; second?: object }[];
  refused: { text: string; error: string }[];
} = JSON.parse(readFileSync(new URL('../shared/sidecar-files.json', import.meta.url), 'utf8'));

it.each(shared.read)('values are text, as they are written: $text', ({ text, second, ...fields }) => {
  const others = second === undefined ? [] : [{ name: 'b', container: 'x', env: second }];
  expect(readSidecars(text, 'side.yaml')).toEqual([{ name: 'a', container: 'x', ...fields }, ...others]);
});

it.each(shared.refused)('$text is refused, in Python too', ({ text, error }) => {
  expect(() => readSidecars(text, 'side.yaml')).toThrow(error);
});

it('a file of another kind, or none, is refused', async () => {
  await withDirectory(async (cwd) => {
    const none = await submitJob(['--scheduler-sidecar-spec', 'none.yaml', 'true'], { cwd });
    expect([none.code, none.body, none.stderr]).toEqual([2, undefined, expect.stringContaining('ENOENT')]);
    const toml = await submitJob(['--scheduler-sidecar-spec', 'side.toml', 'true'], { cwd });
    expect(toml.stderr).toContain('ends neither with .yaml nor with .json');
  });
});
