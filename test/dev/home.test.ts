import { type ChildProcess, spawn } from 'node:child_process';
import { readdir, writeFile } from 'node:fs/promises';
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

describe('the lock of a home', () => {
  it('is refused to a second stack, which is told who holds it', async () => {
    const [opened] = [await openHome(home)];
    const lock = await lockHome(opened);
    await expect(lockHome(opened)).rejects.toThrow(`is in use by another stack: process ${process.pid}`);
    await lock.release();
    const again = await lockHome(opened);
    await again.release();
    expect(await readdir(home)).toEqual(['run']);
  });

  it('of a dead process is taken over, by one of many that try at once', async () => {
    const holder = contender(home);
    expect(await holder.verdict).toBe('held');
    holder.child.kill('SIGKILL');
    await holder.exited;

    const contenders = Array.from({ length: 6 }, () => contender(home));
    const verdicts = await Promise.all(contenders.map(({ verdict }) => verdict));
    expect(verdicts.toSorted()).toEqual(['held', 'refused', 'refused', 'refused', 'refused', 'refused']);
    expect((await readdir(home)).toSorted()).toEqual(['lock', 'run']);
  });

  it('of a pid that now belongs to another process is taken over', async () => {
    const opened = await openHome(home);
    const stale = { pid: process.pid, startTime: 'long ago', token: 't', since: '2026-01-01T00:00:00Z' };
    await writeFile(join(home, 'lock'), JSON.stringify(stale));
    const lock = await lockHome(opened);
    await lock.release();
    expect(await readdir(home)).toEqual(['run']);
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
