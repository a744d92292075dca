// Environments that are built as the task user, where the agent is root: a package's build code reads no file of root's, and
// redirects no operation of root.
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { TaskUser } from '../../agent/processes/task-user.ts';
import { ensureEnvironment } from '../../agent/runtimes/environment/environment.ts';

const run = promisify(execFile);
const isRoot = process.getuid?.() === 0 && process.platform === 'linux';
const user: TaskUser = { name: 'builds', uid: 64_003, gid: 64_003, home: '/nonexistent' };

describe.runIf(isRoot)('an environment that another user builds', () => {
  let scratch: string;
  let home: string;
  beforeAll(async () => {
    scratch = await mkdtemp(join(tmpdir(), 'ropewalk-build-user-'));
    await chmod(scratch, 0o711);
    home = join(scratch, 'home');
    await mkdir(home, { mode: 0o777 });
    await chmod(home, 0o777);
  });
  afterAll(() => rm(scratch, { recursive: true, force: true }));

  it('runs the code of packages as that user, works, and is removed as that user', async () => {
    const secret = join(scratch, 'secret');
    await writeFile(secret, 'secret', { mode: 0o600 });
    const report = join(home, 'report');
    const cacheDir = join(scratch, 'cache');
    const request = {
      ...{ cacheDir, pythonPath: '/usr/bin/python3', user: { ...user, home } },
      requirements: [`probe @ ${pathToFileURL(await probePackage({ secret, report })).href}`],
      environment: { PATH: '/usr/bin:/bin', ROPEWALK_INSTANCE: 'i_1' },
    };
    const made = await ensureEnvironment(request);
    expect(JSON.parse(await readFile(report, 'utf8'))).toEqual({ uid: user.uid, groups: [user.gid], secret: null });
    const { stdout } = await run(made.pythonPath, ['-c', 'import os, probe; print(probe.answer, os.getuid())'], {
      ...{ uid: user.uid, gid: user.gid, cwd: '/' },
    });
    expect(stdout).toBe(`42 ${user.uid}\n`);
    expect((await stat(join(made.directory, 'ropewalk-environment.json'))).uid).toBe(user.uid);
    // The source and target directories of the move are root's.
    for (const name of ['environments', 'building', 'tools']) expect((await stat(join(cacheDir, name))).uid).toBe(0);
    expect(await ensureEnvironment(request)).toMatchObject({ directory: made.directory, reused: true });
    await rm(join(made.directory, 'ropewalk-environment.json'));
    expect(await ensureEnvironment(request)).toMatchObject({ directory: made.directory, reused: false });
    expect(await readdir(join(cacheDir, 'building'))).toEqual([]);
  });

  /** A source distribution whose build reports its user and the files that it can read. */
  async function probePackage({ secret, report }: { secret: string; report: string }): Promise<string> {
    const source = join(scratch, 'probe-1.0');
    await mkdir(source, { mode: 0o755 });
    await chmod(source, 0o755);
    await writeFile(
      join(source, 'pyproject.toml'),
      '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n[project]\nname = "probe"\nversion = "1.0"\n',
    );
    await writeFile(
      join(source, 'backend.py'),
      `
import json, os, zipfile
def build_wheel(directory, settings=None, metadata=None):
    try: secret = open(${JSON.stringify(secret)}).read()
    except OSError: secret = None
    with open(${JSON.stringify(report)}, "w") as file:
        json.dump({"uid": os.getuid(), "groups": os.getgroups() or [os.getgid()], "secret": secret}, file)
    name = "probe-1.0-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(directory, name), "w") as wheel:
        wheel.writestr("probe.py", "answer = 42\\n")
        wheel.writestr("probe-1.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: probe\\nVersion: 1.0\\n")
        wheel.writestr("probe-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr("probe-1.0.dist-info/RECORD", "")
    return name
`,
    );
    const archive = join(scratch, 'probe-1.0.tar.gz');
    await run('tar', ['-czf', archive, '-C', scratch, '--owner=0', '--group=0', '--mode=a+rX', 'probe-1.0']);
    await chmod(archive, 0o644);
    return archive;
  }
});
