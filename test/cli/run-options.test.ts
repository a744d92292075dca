// Options of `batch run` about the number of tasks, their machines, and the client's options in a script's header.
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { openStandIn } from '../sdk/open-stand-in.ts';
import { callCli } from './call-cli.ts';
import { withDirectory } from './run-cli.ts';
import { created, envOf, submitJob } from './submit-job.ts';

describe('a job', () => {
  it('maps over values and over the lines of a file', async () => {
    const words = ['--map-over-values', 'a,b', '--map-over-input-var', 'FILE', '--map-over-delimiter', ';', 'echo'];
    expect((await submitJob(words)).body).toEqual({
      command: ['echo'],
      mapOver: { values: 'a,b', inputVar: 'FILE', delimiter: ';' },
    });
    await withDirectory(async (cwd) => {
      await writeFile(join(cwd, 'inputs.txt'), 'one two\r\n"ünï"\n');
      const lines = await submitJob(['--map-over-file', 'inputs.txt', 'echo', '$COILED_BATCH_TASK_INPUT'], { cwd });
      expect(lines.body).toEqual({
        command: ['echo', '$COILED_BATCH_TASK_INPUT'],
        mapOver: { fileContent: 'one two\r\n"ünï"\n' },
      });
      await writeFile(join(cwd, 'latin1.txt'), Buffer.from([0x61, 0xfc, 0x0a]));
      const refused = await submitJob(['--map-over-file', 'latin1.txt', 'echo'], { cwd });
      expect([refused.code, refused.body]).toEqual([2, undefined]);
      expect(refused.stderr).toContain('latin1.txt is not text in UTF-8');
    });
  });

  it('is refused in the words of its options, not of the request', async () => {
    const words = ['batch', 'run', '--map-over-values', 'a', '--map-over-input-var', 'A B', 'echo'];
    const refuse = async (status: number, error: object) => {
      const api = await openStandIn(() => ({ status, json: { error: { requestId: 'r', ...error } } }));
      return callCli(words, { env: envOf(api) });
    };
    const field = 'mapOver.inputVar';
    const named = await refuse(422, { code: 'VALIDATION', field, message: `${field}: "A B" is not a name.` });
    expect([named.code, named.stderr]).toEqual([
      2,
      'error: --map-over-input-var: "A B" is not a name.\n  request id: r\n',
    ]);
    const whole = await refuse(422, { code: 'VALIDATION', field: 'mapOver', message: 'mapOver: there is no value.' });
    expect(whole.stderr).toContain('error: --map-over-values: there is no value.\n');
    const large = await refuse(413, { code: 'TOO_LARGE', message: 'A request body may have at most 16 MiB here.' });
    expect([large.code, large.stderr]).toEqual([
      2,
      expect.stringMatching(/^error: --map-over-values: .*fit in 16 MiB\n/),
    ]);
  });

  it('is refused before it is sent when its command begins with a path that does not exist', async () => {
    await withDirectory(async (cwd) => {
      for (const path of [join(cwd, 'nope.sh'), './nope', 'nope.py', '~/nope.sh']) {
        const { code, body, stderr } = await submitJob(['--no-package-sync', path, '1'], { cwd });
        expect([code, body]).toEqual([2, undefined]);
        expect(stderr).toContain(`${path} does not exist here`);
        expect(stderr).toContain('--command-on-instance');
      }
      const there = ['--command-on-instance', '--container=a:1', '--software=science', '--input-filestore=raw'];
      for (const option of there)
        expect((await submitJob([option, '/opt/tool/run'], { cwd })).body).toMatchObject({
          command: ['/opt/tool/run'],
        });
      await writeFile(join(cwd, 'work.txt'), '# ROPEWALK container a:1\n');
      expect((await submitJob(['/opt/tool/run', 'work.txt'], { cwd })).code).toBe(0);
      await mkdir(join(cwd, 'data'));
      await writeFile(join(cwd, 'data', 'inner.sh'), 'true\n');
      expect((await submitJob(['--upload', 'data', './inner.sh'], { cwd })).code).toBe(0);
      await writeFile(join(cwd, 'on-path.sh'), 'true\n');
      expect((await submitJob(['on-path.sh'], { cwd: '/', env: { PATH: cwd } })).code).toBe(0);
    });
  });

  it('notes options that stand after the script, and sends them with it', async () => {
    const { body, stderr } = await submitJob(['true', '--wait', '--memory=4', '-e', '--fast']);
    expect(body).toEqual({ command: ['true', '--wait', '--memory=4', '-e', '--fast'] });
    expect(stderr).toContain(
      'note: --wait, --memory after the script belong to the script; options of ropewalk come before it\n',
    );
    expect((await submitJob(['true', '--fast', '-e'])).stderr).not.toContain('note:');
  });

  it('leaves no place of this machine outside the current directory to the header of the script', async () => {
    await withDirectory(async (place) => {
      const cwd = join(place, 'work');
      await mkdir(join(cwd, 'own'), { recursive: true });
      await mkdir(join(place, '.ssh'));
      await writeFile(join(place, '.ssh', 'id'), 'A=secret\n');
      await symlink(place, join(cwd, 'way'));
      const submit = async (line: string, words: string[] = [], from = cwd, home = place) => {
        await writeFile(join(from, 'work.sh'), `#!/bin/sh\n# ROPEWALK ${line}\n`);
        const submitted = await submitJob([...words, 'work.sh'], { cwd: from, env: { HOME: home } });
        return [submitted.code, submitted.body === undefined, submitted.stderr];
      };
      const refused = [2, true, expect.stringContaining('If you want that, give it yourself')];
      for (const path of ['../.ssh', join(place, '.ssh'), 'way/.ssh', 'way/new/deep', '..', 'way'])
        for (const option of ['download', 'sync', 'upload']) expect(await submit(`${option} ${path}`)).toEqual(refused);
      for (const option of ['env-file', 'secret-env-file', 'map-over-file', 'host-setup-script'])
        expect(await submit(`${option} ../.ssh/id`)).toEqual(refused);
      // In a home directory: hidden files, and all of it.
      for (const line of ['download .', 'download .ssh', 'upload .ssh', 'env-file .ssh/id'])
        expect(await submit(line, [], place)).toEqual(refused);
      // The same from its parent, and inside a hidden directory.
      await mkdir(join(place, 'me', '.ssh'), { recursive: true });
      await writeFile(join(place, 'me', '.ssh', 'id'), 'A=secret\n');
      const me = join(place, 'me');
      for (const line of ['upload me/.ssh', 'upload me', 'upload .', 'env-file me/.ssh/id'])
        expect(await submit(line, [], place, me)).toEqual(refused);
      expect(await submit('env-file id', [], join(me, '.ssh'), me)).toEqual(refused);
      const sent = [0, false, expect.any(String)];
      expect(await submit('env-file ../.ssh/id', ['--env-file', '../.ssh/id'])).toEqual(sent);
      expect(await submit('host-setup-script /none', ['--host-setup-script', '../.ssh/id'])).toEqual(sent);
      expect(await submit('upload own')).toEqual(sent);
    });
  });

  it('leaves no place outside the current directory to links in a directory that the header of the script uploads', async () => {
    await withDirectory(async (place) => {
      const cwd = join(place, 'work');
      await mkdir(join(cwd, 'own', 'deep'), { recursive: true });
      await mkdir(join(cwd, 'beside'));
      await mkdir(join(place, '.ssh'));
      await writeFile(join(place, '.ssh', 'id'), 'secret\n');
      await writeFile(join(cwd, 'plain'), 'plain\n');
      await symlink('../plain', join(cwd, 'own', 'plain'));
      await symlink('loop', join(cwd, 'own', 'loop'));
      await symlink('../../.ssh/none', join(cwd, 'own', 'nothing'));
      const submit = async (line: string, words: string[] = []) => {
        await writeFile(join(cwd, 'work.sh'), `#!/bin/sh\n# ROPEWALK ${line}\n`);
        return submitJob([...words, 'work.sh'], { cwd, env: { HOME: place } });
      };
      // A link to a file of the current directory is followed.
      expect((await submit('upload own')).body).toMatchObject({ files: [{ path: 'work.sh' }, { path: 'plain' }] });
      // The link of a file, of a directory, and one below a directory that a link leads to.
      const links: [target: string, at: string, named: string][] = [
        ['../../../.ssh/id', 'own/deep/key', 'own/deep/key'],
        ['../../.ssh', 'own/keys', 'own/keys'],
        ['../../.ssh/id', 'beside/key', 'own/way/key'],
      ];
      for (const [target, at, named] of links) {
        await symlink(target, join(cwd, at));
        if (at.startsWith('beside')) await symlink('../beside', join(cwd, 'own', 'way'));
        for (const option of ['upload', 'sync']) {
          const { code, body, stderr } = await submit(`${option} own`);
          expect([code, body]).toEqual([2, undefined]);
          expect(stderr).toContain(
            `the script's header has ${option} own, and its link ${named} leads outside the current directory`,
          );
          expect(stderr).toContain('--upload own');
        }
        // The user's own option follows links.
        expect((await submit('upload own', ['--upload', 'own'])).code).toBe(0);
        await rm(join(cwd, at));
      }
      // In a home directory a link to a hidden file.
      await mkdir(join(cwd, '.aws'));
      await symlink('../.aws', join(cwd, 'own', 'aws'));
      await writeFile(join(cwd, 'work.sh'), '#!/bin/sh\n# ROPEWALK upload own\n');
      const hidden = await submitJob(['work.sh'], { cwd, env: { HOME: cwd } });
      expect([hidden.code, hidden.body]).toEqual([2, undefined]);
      expect(hidden.stderr).toContain('its link own/aws leads to a hidden file of your home directory');
    });
  });

  it('carries out what the header of the script asks of the client, under the command line', async () => {
    await withDirectory(async (cwd) => {
      await writeFile(join(cwd, 'inputs.txt'), 'a\nb\n');
      await writeFile(join(cwd, 'local.env'), 'MODE=fast\n');
      await writeFile(join(cwd, 'setup.sh'), 'apt-get install gdal\n');
      const asked = ['map-over-file inputs.txt', 'env_file local.env', 'host-setup-script setup.sh', 'memory 8GB'];
      const header = asked.map((line) => `# COILED ${line}`);
      await writeFile(join(cwd, 'work.py'), `${header.join('\n')}\n`);
      expect((await submitJob(['--no-package-sync', 'python3', 'work.py'], { cwd })).body).toMatchObject({
        mapOver: { fileContent: 'a\nb\n' },
        env: { MODE: 'fast' },
        hostSetupScript: 'apt-get install gdal\n',
        clientOptions: ['map-over-file', 'env-file', 'host-setup-script'],
      });
      const { body } = await submitJob(['--no-package-sync', '--ntasks', '3', 'python3', 'work.py'], { cwd });
      expect(body).toMatchObject({ ntasks: 3, clientOptions: ['map-over-file', 'env-file', 'host-setup-script'] });
      expect(body).not.toHaveProperty('mapOver');
    });
  });

  it('says which instances run which tasks, and when', async () => {
    const words = ['--no-task-on-scheduler', '--wait-for-ready-cluster', 'echo'];
    expect((await submitJob(words)).body).toEqual({
      command: ['echo'],
      taskOnScheduler: false,
      waitForReadyCluster: true,
    });
    expect((await submitJob(['--task-on-scheduler', 'echo'])).body).toMatchObject({ taskOnScheduler: true });
    expect((await submitJob(['--scheduler-task-array', '0,2', 'echo'])).body).toMatchObject({
      schedulerTaskArray: '0,2',
    });
  });

  it('goes to the workspace of the token only', async () => {
    const api = await openStandIn(({ path }) =>
      path === '/v1/whoami' ? { json: { workspace: 'team-a' } } : { status: 201, json: created },
    );
    const run = (...words: string[]) => callCli(['batch', 'run', ...words, 'echo'], { env: envOf(api) });
    expect((await run('--workspace', 'team-a')).code).toBe(0);
    const refused = await run('--workspace', 'team-b');
    expect([refused.code, refused.stdout]).toEqual([2, '']);
    expect(refused.stderr).toContain('the token is of the workspace team-a, not of team-b');
    expect(api.requests.map(({ path }) => path)).toEqual(['/v1/whoami', '/v1/jobs', '/v1/whoami']);
  });
});
