import { type ChildProcess, spawn } from 'node:child_process';
import { readdir, readlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { lockHome, openHome } from '../../dev/home.ts';
import { makeHome, node24, removeHome } from '../support/stack.ts';

let home = '';
const children: ChildProcess[] = [];
beforeEach(async () => {
  home = await makeHome();
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await removeHome(home);
});

/** Of this pid namespace, unless the overrides name another. */
const anOwner = async (overrides: Partial<Record<'startTime' | 'pidNamespace' | 'token', string>>) => ({
  ...{ pid: process.pid, startTime: '1', token: 't', since: '2026-01-01T00:00:00Z' },
  pidNamespace: await readlink('/proc/self/ns/pid'),
  ...overrides,
});

describe('the lock of a home', () => {
  it('is refused to a second stack, whose error names the process that holds it', async () => {
    const [opened] = [await openHome(home)];
    const lock = await lockHome(opened);
    await expect(lockHome(opened)).rejects.toThrow(`is in use by another stack: process ${process.pid}`);
    await lock.release();
    const again = await lockHome(opened);
    await again.release();
    expect(await readdir(home)).toEqual(['run']);
  });

  it('of a dead process is taken over, by one of many that try at once', async () => {
    const owner = contender(home);
    expect(await owner.verdict).toBe('held');
    owner.child.kill('SIGKILL');
    await owner.exited;

    const contenders = Array.from({ length: 6 }, () => contender(home));
    const verdicts = await Promise.all(contenders.map(({ verdict }) => verdict));
    expect(verdicts.toSorted()).toEqual(['held', 'refused', 'refused', 'refused', 'refused', 'refused']);
    expect((await readdir(home)).toSorted()).toEqual(['lock', 'run']);
  });

  it('of a pid that now belongs to another process is taken over', async () => {
    const opened = await openHome(home);
    const stale = await anOwner({ startTime: 'long ago' });
    await writeFile(join(home, 'lock'), JSON.stringify(stale));
    const lock = await lockHome(opened);
    await lock.release();
    expect(await readdir(home)).toEqual(['run']);
  });

  it('of another pid namespace is respected while its owner touches it, and taken over later', async () => {
    const opened = await openHome(home);
    await writeFile(join(home, 'lock'), JSON.stringify(await anOwner({ pidNamespace: 'pid:[1]' })));
    await expect(lockHome(opened)).rejects.toThrow('is in use by another stack');
    const longAgo = new Date(Date.now() - 60_000);
    await utimes(join(home, 'lock'), longAgo, longAgo);
    const lock = await lockHome(opened);
    await lock.release();
  });

  it('leaves no file of a process that was killed, or had no room, while it took the lock', async () => {
    const opened = await openHome(home);
    await writeFile(join(home, 'lock.killed'), JSON.stringify(await anOwner({ startTime: 'long ago' })));
    await writeFile(join(home, 'lock.empty'), '');
    const longAgo = new Date(Date.now() - 60_000);
    await utimes(join(home, 'lock.empty'), longAgo, longAgo);
    const lock = await lockHome(opened);
    expect((await readdir(home)).toSorted()).toEqual(['lock', 'run']);
    await lock.release();
  });
});

/** A process that takes the lock and then stays. */
function contender(path: string): { child: ChildProcess; verdict: Promise<string>; exited: Promise<unknown> } {
  const module = pathToFileURL(join(import.meta.dirname, '../../dev/home.ts')).href;
  const program = `
    import { lockHome, openHome } from ${JSON.stringify(module)};
    await lockHome(await openHome(${JSON.stringify(path)})).then(() => console.log('held'), () => console.log('refused'));
    setInterval(() => undefined, 1000);`;
  const child = spawn(node24, ['--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  const verdict = new Promise<string>((resolve) =>
    child.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString().trim())),
  );
  return { child, verdict, exited: new Promise((resolve) => child.once('exit', resolve)) };
}
