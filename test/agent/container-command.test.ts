// The arguments of an engine for one command, and the error of an instance without an engine.
import { describe, expect, it } from 'vitest';

import { engineCommand, type ContainerInput } from '../../agent/runtimes/container/command-line.ts';
import { findEngine } from '../../agent/runtimes/container/engine.ts';

const input: ContainerInput = {
  kind: 'podman',
  image: 'ubuntu:24.04',
  ignoreEntrypoint: false,
  name: 'ropewalk-i_1-0a',
  instance: 'i_1',
  command: { argv: ['./run.sh', '--fast'], env: { MODE: 'fast', SECRET: 'hunter2' }, cwd: '/i/work/0-1' },
  envFile: '/i/e.env',
  hasGpu: false,
  hasInit: false,
  uid: 0,
  gid: 0,
  isConfined: false,
};

describe('the command line of an engine', () => {
  it('names the container, its instance, the directory, the image and the words of the command', () => {
    expect(engineCommand(input).args).toEqual([
      ...['run', '--rm', '--pull=never', '--name', 'ropewalk-i_1-0a', '--label', 'ropewalk.instance=i_1'],
      ...['--network', 'host', '--ipc', 'host', '--log-driver', 'none', '--security-opt', 'label=disable'],
      ...['--user', '0:0', '--volume', '/i/work/0-1:/i/work/0-1', '--workdir', '/i/work/0-1'],
      ...['--env', 'MODE', '--env', 'SECRET', 'ubuntu:24.04', './run.sh', '--fast'],
    ]);
  });

  it('holds no value of a variable; those that would change the engine itself go by a file', () => {
    const env = {
      SECRET: 'hunter2',
      PATH: '/mine',
      HOME: '/hidden',
      DOCKER_HOST: 'tcp://elsewhere',
      LD_PRELOAD: 'x.so',
    };
    const made = engineCommand({ ...input, command: { ...input.command, env } });
    expect(made.args.join(' ')).not.toMatch(/hunter2|hidden|elsewhere|x\.so/);
    expect(made.env).toEqual({ SECRET: 'hunter2' });
    expect(made.file).toBe('PATH=/mine\nHOME=/hidden\nDOCKER_HOST=tcp://elsewhere\nLD_PRELOAD=x.so\n');
    expect(made.args).toContain('--env-file');
    const broken = { ...input.command, env: { PATH: 'a\nb' } };
    expect(() => engineCommand({ ...input, command: broken })).toThrow('the value of PATH has a line break');
  });

  it('drops the entrypoint, adds an init and GPUs where they are there, in the words of each engine', () => {
    const all = { ...input, ignoreEntrypoint: true, hasGpu: true, hasInit: true };
    const podman = engineCommand(all).args.join(' ');
    expect(podman).toContain('--init --device nvidia.com/gpu=all --entrypoint  --volume');
    const docker = engineCommand({ ...all, kind: 'docker', uid: 1000, gid: 100 }).args.join(' ');
    expect(docker).toContain('--user 1000:100 --init --gpus all --entrypoint  --volume');
  });

  it('drops every right of a command that a daemon of root starts for the user of tasks', () => {
    const { args } = engineCommand({ ...input, kind: 'docker', uid: 995, gid: 994, isConfined: true });
    expect(args.join(' ')).toContain('--user 995:994 --cap-drop ALL --security-opt no-new-privileges --volume');
    expect(engineCommand(input).args).not.toContain('--cap-drop');
  });

  it('mounts each directory that the command names once', () => {
    const command = { ...input.command, mounts: ['/i/work', '/tmp/rw-1', '/i/work'] };
    const { args } = engineCommand({ ...input, command });
    const volumes = args.filter((_, at) => args[at - 1] === '--volume');
    expect(volumes).toEqual(['/i/work/0-1:/i/work/0-1', '/i/work:/i/work', '/tmp/rw-1:/tmp/rw-1']);
  });
});

it('a machine without podman and docker has no engine', async () => {
  expect(await findEngine({ directory: '/', environment: { PATH: '/nonexistent' }, user: null })).toBeNull();
});
