import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { maxWordFileBytes } from '../../cli/files.ts';
import { openStandIn } from '../sdk/open-stand-in.ts';
import { anError } from '../sdk/stand-in-api.ts';
import { callCli } from './call-cli.ts';
import { withDirectory } from './run-cli.ts';
import { created, envOf, submitJob } from './submit-job.ts';

describe('batch run', () => {
  it('prints the number on stdout, and the next commands on stderr', async () => {
    const { code, stdout, stderr, body } = await submitJob(['echo', 'hi']);
    expect({ code, stdout, body }).toEqual({
      code: 0,
      stdout: 'Job 12 (job-12) submitted\n',
      body: { command: ['echo', 'hi'] },
    });
    expect(stderr).toContain('ropewalk batch wait 12');
    expect(stderr).toContain('ropewalk batch logs 12 --follow');
  });

  it('sends every option; options of the command stay in the command', async () => {
    const { body } = await submitJob([
      ...['--array', '2,4-6', '--max-workers', '-1', '-e', 'MODE=fast', '--env', 'EQ=a=b', '-e', 'EMPTY='],
      ...['--secret-env', 'KEY=v', '--name', 'nightly', '--retries', '2', '--job-timeout', '1 hour', '--lease', '30s'],
      ...['--watchdog-timeout', '10 minutes', '--private-to-creator'],
      ...['--requirement', 'pandas==2.3.1', '--requirement', 'numpy', '--python', '3.12'],
      ...['--get-or-create', 'timeout', '600', 'python', '-N', '3', '--wait', '$COILED_BATCH_TASK_INPUT'],
    ]);
    expect(body).toEqual({
      command: ['timeout', '600', 'python', '-N', '3', '--wait', '$COILED_BATCH_TASK_INPUT'],
      array: '2,4-6',
      maxWorkers: -1,
      env: { MODE: 'fast', EQ: 'a=b', EMPTY: '' },
      secretEnv: { KEY: 'v' },
      name: 'nightly',
      retries: 2,
      jobTimeout: '1 hour',
      lease: '30s',
      watchdogTimeout: '10 minutes',
      privateToCreator: true,
      software: { requirements: ['pandas==2.3.1', 'numpy'], python: '3.12' },
      // The first request refuses an existing job; a second one would return it.
      getOrCreate: false,
    });
  });

  it('sends the jobs to wait for, and the priority', async () => {
    const words = ['--after', '3,4', '--after', '5', '--after-ok', '6', '--priority', '-7', 'true'];
    expect((await submitJob(words)).body).toEqual({ command: ['true'], after: [3, 4, 5], afterOk: [6], priority: -7 });
  });

  it('accepts --n-tasks, sends machine options, and sends options of Coiled by name', async () => {
    const words = ['--n-tasks', '10', '--memory', '64GB', '--region', 'us-west-2', '--gpu', '-t', 'a=b', 'my_script'];
    expect((await submitJob(words)).body).toEqual({
      command: ['my_script'],
      ntasks: 10,
      ...{ memory: '64GB', region: 'us-west-2', gpu: true },
      tags: { a: 'b' },
    });
  });

  it('prints warnings on stderr', async () => {
    const api = await openStandIn(() => ({
      status: 201,
      json: { ...created, warnings: ['memory has no\u001b[31m effect.'] },
    }));
    const { code, stdout, stderr } = await callCli(['batch', 'run', '--format', 'json', 'true'], { env: envOf(api) });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ number: 12, warnings: ['memory has no\u001b[31m effect.'] });
    expect(stderr).toContain('warning: memory has no effect.\n');
  });

  it('reads environment files, pairs that override them, and values from its own environment', async () => {
    await withDirectory(async (cwd) => {
      await writeFile(join(cwd, 'a.env'), '# a comment\nA=1\nB="two words"\nC=3\n');
      await writeFile(join(cwd, 's.env'), 'S=hidden\n');
      const words = [
        '--env-file',
        'a.env',
        '-e',
        'C=4',
        '--secret-env-file',
        's.env',
        '--secret-env',
        'FROM_HERE',
        'true',
      ];
      const { body } = await submitJob(words, { cwd, env: { FROM_HERE: 'x=y' } });
      expect(body).toMatchObject({
        env: { A: '1', B: 'two words', C: '4' },
        secretEnv: { S: 'hidden', FROM_HERE: 'x=y' },
      });
    });
  });

  it.each([
    [['-e', '1A=topsecret', 'true'], /--env: must be KEY=val/],
    [['--secret-env', 'NOT_THERE', 'true'], /--secret-env NOT_THERE: has no value/],
    [['--env-file', 'absent.env', 'true'], /--env-file: cannot read absent.env: ENOENT/],
    [['--upload', 'absent', 'true'], /--upload: cannot read absent: ENOENT/],
    [['--ntasks', 'ten', 'true'], /--ntasks.*whole number/],
    [['--nonsense', 'true'], /unknown option '--nonsense'/],
    [[], /missing required argument 'command'/],
  ])('refuses the command line %j with exit code 2', async (words, message) => {
    const { code, stdout, stderr } = await submitJob(words);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain('topsecret');
  });

  it("prints the server's error with a hint and the request id", async () => {
    const refusal = { code: 'VALIDATION', message: 'ntasks: too many', field: 'ntasks', hint: 'Ask for less.' };
    const api = await openStandIn(() => anError(422, refusal));
    const { code, stderr } = await callCli(['batch', 'run', 'true'], { env: envOf(api) });
    expect(code).toBe(2);
    expect(stderr).toBe('error: ntasks: too many\n  how to fix: Ask for less.\n  request id: req_1\n');
  });
});

describe('the files of a job', () => {
  it('are those below the current directory that words of the command name', async () => {
    await withDirectory(async (above) => {
      const cwd = join(above, 'here');
      await mkdir(join(cwd, 'scripts'), { recursive: true });
      await writeFile(join(cwd, 'scripts', 'my_script.py'), 'print(1)\n');
      await writeFile(join(cwd, 'run.sh'), '#!/bin/sh\n');
      await chmod(join(cwd, 'run.sh'), 0o755);
      await writeFile(join(cwd, 'big.bin'), Buffer.alloc(maxWordFileBytes + 1));
      await writeFile(join(above, 'outside.txt'), 'no');
      const words = [
        './run.sh',
        'scripts/my_script.py',
        'scripts',
        'run.sh',
        'absent.txt',
        'big.bin',
        '../outside.txt',
        'scripts/../run.sh',
        join(cwd, 'big.bin'),
        '/etc/hostname',
      ];
      const { body, stderr } = await submitJob(words, { cwd });
      expect(body).toEqual({
        command: words.with(7, 'run.sh'),
        files: [
          { path: 'run.sh', content: Buffer.from('#!/bin/sh\n').toString('base64'), executable: true },
          { path: 'scripts/my_script.py', content: Buffer.from('print(1)\n').toString('base64'), executable: false },
        ],
      });
      expect(stderr).toMatch(/note: big.bin is not sent: it has 1.0 MiB, more than 1 MiB/);
      expect(stderr).toMatch(/note: ..\/outside.txt is not sent: it is outside the current directory/);
      expect(stderr).toMatch(/big.bin is not sent: it is an absolute path and no script; write big.bin to send it/);
      expect(stderr).not.toContain('hostname');
    });
  });

  it.each([
    ['an absolute path', (home: string) => join(home, 'jobs', 'script.sh'), 'script.sh'],
    ['a path with ~', () => '~/jobs/script.sh', 'script.sh'],
    ['a path above', () => '../jobs/script.sh', 'script.sh'],
    [
      'an absolute path below the current directory',
      (home: string) => join(home, 'here', 'sub', 'near.py'),
      'sub/near.py',
    ],
  ])('include scripts outside the current directory: %s', async (_, wordOf, path) => {
    await withDirectory(async (home) => {
      const cwd = join(home, 'here');
      await mkdir(join(cwd, 'sub'), { recursive: true });
      await mkdir(join(home, 'jobs'));
      const content = '# COILED ntasks 3\necho $0\n';
      await writeFile(join(home, 'jobs', 'script.sh'), content);
      await writeFile(join(cwd, 'sub', 'near.py'), content);
      const { body, stderr } = await submitJob(['bash', wordOf(home), '--fast'], { cwd, env: { HOME: home } });
      expect(body).toEqual({
        command: ['bash', path, '--fast'],
        files: [{ path, content: Buffer.from(content).toString('base64'), executable: false }],
      });
      expect(stderr).not.toContain('note:');
    });
  });

  it('exclude programs and data that an absolute path names', async () => {
    await withDirectory(async (home) => {
      await mkdir(join(home, 'venv', 'bin'), { recursive: true });
      await mkdir(join(home, 'on-path'));
      const files = { 'venv/bin/tool': '#!/bin/sh\n', 'on-path/tool.py': '', 'data.csv': 'a,b\n', 'binary.py': '#!\0' };
      for (const [name, content] of Object.entries(files)) await writeFile(join(home, name), content);
      const words = ['/usr/bin/python3', ...Object.keys(files).map((name) => join(home, name))];
      const path = `${process.env['PATH']}:${join(home, 'on-path')}`;
      expect((await submitJob(words, { env: { PATH: path } })).body).toEqual({ command: words });
    });
  });

  it('include programs with a header', async () => {
    await withDirectory(async (home) => {
      await mkdir(join(home, 'bin'));
      await writeFile(join(home, 'bin', 'nightly'), '#!/bin/sh\n# ROPEWALK ntasks 2\n');
      const { body } = await submitJob([join(home, 'bin', 'nightly')], { cwd: import.meta.dirname });
      expect(body).toMatchObject({ command: ['nightly'], files: [{ path: 'nightly' }] });
    });
  });

  it("include uploads: a file under its name, a directory's content, links followed once", async () => {
    await withDirectory(async (cwd) => {
      await mkdir(join(cwd, 'data', 'deep'), { recursive: true });
      await writeFile(join(cwd, 'data', 'a.csv'), 'a');
      await writeFile(join(cwd, 'data', 'deep', 'b.csv'), 'b');
      await symlink(join(cwd, 'data'), join(cwd, 'data', 'deep', 'loop'));
      await writeFile(join(cwd, 'data', 'deep', 'one.txt'), '1');
      const { body } = await submitJob(['--upload', 'data', '--upload', 'data/deep/one.txt', 'true'], { cwd });
      expect(body).toMatchObject({
        files: [{ path: 'a.csv' }, { path: 'deep/b.csv' }, { path: 'deep/one.txt' }, { path: 'one.txt' }],
      });
    });
  });

  it('are refused when two have the same place', async () => {
    await withDirectory(async (cwd) => {
      await mkdir(join(cwd, 'x'));
      await mkdir(join(cwd, 'y'));
      await writeFile(join(cwd, 'x', 'a'), '1');
      await writeFile(join(cwd, 'y', 'a'), '2');
      const twice = await submitJob(['--upload', 'x', '--upload', 'y', 'true'], { cwd });
      expect(twice).toMatchObject({ code: 2, body: undefined, stderr: expect.stringContaining('would both become a') });
    });
  });
});
