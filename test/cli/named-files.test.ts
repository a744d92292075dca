// What `batch run` takes from a command line of Coiled: a command in one word, and files that a script names in its lines.
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import type { CreateJob } from '../../sdk/client.ts';
import { withDirectory } from './run-cli.ts';
import { submitJob } from './submit-job.ts';

const text = (content: string): string => Buffer.from(content).toString('base64');

describe('a command in one word', () => {
  it('is split as a shell splits it, unless a file has that name', async () => {
    await withDirectory(async (cwd) => {
      await writeFile(join(cwd, 'work.sh'), 'true\n');
      await writeFile(join(cwd, 'my work.sh'), 'true\n');
      expect((await submitJob([`sh work.sh 'a b' \\$COILED_BATCH_TASK_ID`], { cwd })).body).toEqual({
        command: ['sh', 'work.sh', 'a b', '$COILED_BATCH_TASK_ID'],
        files: [{ path: 'work.sh', content: text('true\n'), executable: false }],
      });
      expect((await submitJob(['my work.sh'], { cwd })).body).toMatchObject({ command: ['my work.sh'] });
      expect((await submitJob(['sort in.txt | uniq'], { cwd })).body).toEqual({ command: ['sort in.txt | uniq'] });
      expect((await submitJob(['--command-on-instance', '/opt/my tool'], { cwd })).body).toEqual({
        command: ['/opt/my tool'],
      });
    });
  });
});

describe('files that a script names', () => {
  const script = [
    '#!/bin/bash',
    '# COILED ntasks 2',
    '# python unread.py',
    'python helper.py data.csv "two words.txt" || exit 1',
    "python /etc/passwd.py ../outside.py link.csv big.csv sub/inner.py it's.py",
    './other.sh',
    'cat unnamed',
  ].join('\n');
  const makeFiles = async (cwd: string): Promise<void> => {
    await mkdir(join(cwd, 'sub'));
    const small = ['helper.py', 'data.csv', 'two words.txt', 'sub/inner.py', 'other.sh', 'unread.py', 'unnamed'];
    for (const name of small) await writeFile(join(cwd, name), name === 'other.sh' ? 'python deeper.py\n' : name);
    await writeFile(join(cwd, 'deeper.py'), '');
    await writeFile(join(cwd, 'big.csv'), 'x'.repeat(33 * 1024));
    await symlink('/etc/hostname', join(cwd, 'link.csv'));
    await writeFile(join(cwd, 'run.sh'), script.replace(" it's.py", ''));
  };
  const pathsOf = (body: unknown): string[] =>
    // eslint-disable-next-line typescript/no-unsafe-type-assertion -- what the command sent
    ((body as CreateJob).files ?? []).map(({ path }) => path);

  it('are sent with it, one level deep, from the current directory alone', async () => {
    await withDirectory(async (cwd) => {
      await makeFiles(cwd);
      const { body, stderr } = await submitJob(['run.sh'], { cwd });
      expect(pathsOf(body)).toEqual(['run.sh', 'helper.py', 'data.csv', 'two words.txt', 'sub/inner.py', 'other.sh']);
      expect(stderr).toContain(
        'note: sent too, because run.sh names them: helper.py, data.csv, two words.txt, sub/inner.py, other.sh',
      );
      expect(stderr).toContain('note: not sent, although run.sh names them, because of their size: big.csv');
      // They give way to files of an input filestore; the script itself does not.
      // eslint-disable-next-line typescript/no-unsafe-type-assertion -- what the command sent
      const implicit = (body as CreateJob).files?.map((file) => file.implicit);
      expect(implicit).toEqual([undefined, true, true, true, true, true]);
    });
  });

  it('are found in Python too', async () => {
    await withDirectory(async (cwd) => {
      await makeFiles(cwd);
      await writeFile(join(cwd, 'run.py'), 'open("data.csv")\nsubprocess.run(["python", "helper.py"])\n');
      const { body } = await submitJob(['--no-package-sync', 'run.py'], { cwd });
      expect(pathsOf(body)).toEqual(['run.py', 'data.csv', 'helper.py']);
    });
  });

  it('are not sent in place of what the user names, from a hidden place of the home directory, or where that is turned off', async () => {
    await withDirectory(async (cwd) => {
      await makeFiles(cwd);
      expect(pathsOf((await submitJob(['--no-implicit-file-upload', 'run.sh'], { cwd })).body)).toEqual(['run.sh']);
      await writeFile(join(cwd, 'off.sh'), '# COILED no-implicit-file-upload\npython helper.py\n');
      const off = await submitJob(['off.sh'], { cwd });
      expect(pathsOf(off.body)).toEqual(['off.sh']);
      expect(off.body).toMatchObject({ clientOptions: ['no-implicit-file-upload'] });
      await writeFile(join(cwd, 'sub', 'helper.py'), 'of sub');
      const own = await submitJob(['--upload', 'sub', 'run.sh'], { cwd });
      expect(own.body).toMatchObject({
        files: expect.arrayContaining([{ path: 'helper.py', content: text('of sub'), executable: false }]),
      });
      await mkdir(join(cwd, '.keys'));
      await writeFile(join(cwd, '.keys', 'a.json'), '{}');
      await writeFile(join(cwd, 'keys.sh'), 'python helper.py .keys/a.json\n');
      const home = await submitJob(['keys.sh'], { cwd, env: { HOME: cwd } });
      expect(pathsOf(home.body)).toEqual(['keys.sh', 'helper.py']);
    });
  });

  it('are found before a comment, whatever it contains', async () => {
    await withDirectory(async (cwd) => {
      for (const name of ['a.py', 'b.py', 'c#.py', 'd # e.py', 'no.py']) await writeFile(join(cwd, name), '');
      const lines = [
        "python a.py   # don't forget no.py",
        "python b.py;# it's no.py",
        `python c#.py 'd # e.py' # "no.py`,
      ];
      await writeFile(join(cwd, 'run.sh'), [...lines, "  # don't: python no.py", ''].join('\n'));
      const { body } = await submitJob(['run.sh'], { cwd });
      expect(pathsOf(body)).toEqual(['run.sh', 'a.py', 'b.py', 'c#.py', 'd # e.py']);
    });
  });

  it('never refuse a job: each one that is not sent is named', async () => {
    await withDirectory(async (cwd) => {
      const names = Array.from({ length: 12 }, (_, nth) => `large${nth}.py`);
      for (const name of names) await writeFile(join(cwd, name), 'x'.repeat(1024 * 1024));
      await writeFile(join(cwd, 'run.sh'), names.map((name) => `python ${name}\n`).join(''));
      const large = await submitJob(['run.sh'], { cwd });
      expect(pathsOf(large.body)).toEqual(['run.sh', ...names.slice(0, 9)]);
      expect(large.stderr).toContain(`sent too, because run.sh names them: ${names.slice(0, 9).join(', ')}\n`);
      expect(large.stderr).toContain(
        "because a job's files have at most 10 MiB together: large9.py, large10.py, large11.py; use --upload",
      );
      const many = Array.from({ length: 102 }, (_, nth) => `part${nth}.py`);
      for (const name of many) await writeFile(join(cwd, name), '');
      await writeFile(join(cwd, 'run.sh'), many.map((name) => `python ${name}\n`).join(''));
      const counted = await submitJob(['run.sh'], { cwd });
      expect(pathsOf(counted.body)).toEqual(['run.sh', ...many.slice(0, 100)]);
      expect(counted.stderr).toContain('because at most 100 such files are sent: part100.py, part101.py; use --upload');
    });
  });

  // The super-user reads every file.
  const others = process.getuid?.() === 0 ? [] : ['shut.py'];
  it('are left out, with a note, if they cannot be read', async () => {
    await withDirectory(async (cwd) => {
      await writeFile(join(cwd, 'shut.py'), '', { mode: 0o000 });
      await writeFile(join(cwd, 'run.sh'), 'python shut.py\n');
      const { body, stderr } = await submitJob(['run.sh'], { cwd });
      expect(pathsOf(body)).toEqual(others.length === 0 ? ['run.sh', 'shut.py'] : ['run.sh']);
      for (const name of others) expect(stderr).toContain(`because they cannot be read: ${name}; use --upload`);
    });
  });

  it('are not sent where they hold keys, whatever the current directory is', async () => {
    await withDirectory(async (place) => {
      const keys = ['me/.ssh/id_ed25519', 'me/.aws/credentials', '.env', 'id_rsa', '.aws/credentials', 'server.pem'];
      for (const directory of ['me/.ssh', 'me/.aws', '.aws']) await mkdir(join(place, directory), { recursive: true });
      for (const name of [...keys, 'me/.aws/plain.json', 'credentials.py']) await writeFile(join(place, name), 'k');
      await symlink('.env', join(place, 'link.json'));
      await writeFile(join(place, 'run.sh'), `python credentials.py link.json ${keys.join(' ')}\n`);
      const env = { HOME: join(place, 'me') };
      const { body, stderr } = await submitJob(['run.sh'], { cwd: place, env });
      expect(pathsOf(body)).toEqual(['run.sh', 'credentials.py']);
      expect(stderr).toContain('they are hidden or have names of keys, credentials or databases: link.json, me/.ssh/');
      await writeFile(join(place, 'me', '.aws', 'run.sh'), 'python plain.json credentials\n');
      const inside = await submitJob(['run.sh'], { cwd: join(place, 'me', '.aws'), env });
      expect(pathsOf(inside.body)).toEqual(['run.sh']);
    });
  });
});
