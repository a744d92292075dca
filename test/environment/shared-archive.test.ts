// Archives of environments, and an instance's fallback when an archive is unusable.
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import type { TaskUser } from '../../agent/processes/task-user.ts';
import { packDirectory, TooLarge, unpackDirectory } from '../../agent/runtimes/environment/shared/archive.ts';
import { obtainEnvironment } from '../../agent/runtimes/environment/shared/obtain.ts';
import type { SharedBuilds, SharedNote } from '../../agent/runtimes/environment/shared/port.ts';
import type { Tools } from '../../agent/runtimes/environment/run-tool.ts';
import type { BuildClaimAnswer } from '../../schema/shared-builds.ts';

let scratch: string;
let tools: Tools;
beforeEach(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'ropewalk-archive-'));
  const environment = { PATH: process.env['PATH'] ?? '' };
  tools = { user: null, environment, cacheDir: scratch, signal: undefined };
  await mkdir(join(scratch, 'building'));
});
afterEach(() => rm(scratch, { recursive: true, force: true }));

async function directory(name: string): Promise<string> {
  await mkdir(join(scratch, name));
  return join(scratch, name);
}

async function sample(): Promise<string> {
  const made = await directory('made');
  await mkdir(join(made, 'bin'));
  await symlink(process.execPath, join(made, 'bin', 'python'));
  await writeFile(join(made, 'tool'), '#!/bin/sh\n', { mode: 0o755 });
  await utimes(join(made, 'tool'), 1_700_000_000, 1_700_000_000);
  // Many incompressible chunks.
  await writeFile(join(made, 'data'), randomBytes(16_000_000));
  return made;
}

describe('an archive', () => {
  it('is unpacked when tar ends with success, whether or not its pipe was closed in time', async () => {
    const programs = await directory('programs');
    await writeFile(join(programs, 'tar'), '#!/bin/sh\nhead -c 512 > /dev/null\nexit $TAR_EXIT\n', { mode: 0o755 });
    const path = join(scratch, 'archive');
    await writeFile(path, zstdCompressSync(randomBytes(4_000_000)));
    const unpackWith = (exit: string): Promise<void> => {
      const environment = { PATH: `${programs}:${process.env['PATH'] ?? ''}`, TAR_EXIT: exit };
      return unpackDirectory({ ...tools, environment }, path, { directory: scratch, maxBytes: 5_000_000 });
    };
    await unpackWith('0');
    await expect(unpackWith('2')).rejects.toThrow('tar ended with 2');
  });

  it('has the files with their modes, times and links, and the SHA-256 that is said', async () => {
    const path = join(scratch, 'archive');
    const made = await sample();
    const packed = await packDirectory(tools, made, { path, maxBytes: 20_000_000 });
    const bytes = await readFile(path);
    expect(packed).toMatchObject({ bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') });
    expect(packed.unpackedBytes).toBeGreaterThan(16_000_000);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const into = await directory('into');
    await unpackDirectory(tools, path, { directory: into, maxBytes: packed.unpackedBytes });
    expect((await readdir(into)).toSorted()).toEqual(['bin', 'data', 'tool']);
    const [before, after] = await Promise.all([made, into].map((each) => readFile(join(each, 'data'))));
    expect(after?.equals(before ?? Buffer.alloc(0))).toBe(true);
    const { mode, mtimeMs } = await stat(join(into, 'tool'));
    expect([mode & 0o777, mtimeMs]).toEqual([0o755, 1_700_000_000_000]);
    expect((await stat(join(into, 'bin', 'python'))).isFile()).toBe(true);
  });

  it('is neither made nor unpacked beyond its limit', async () => {
    const path = join(scratch, 'archive');
    const made = await sample();
    await expect(packDirectory(tools, made, { path, maxBytes: 100 })).rejects.toThrow(TooLarge);
    await rm(path);
    await packDirectory(tools, made, { path, maxBytes: 20_000_000 });
    const into = await directory('into');
    await expect(unpackDirectory(tools, path, { directory: into, maxBytes: 50_000 })).rejects.toThrow(TooLarge);
  });

  it('that is none, or leads out of the directory, is refused', async () => {
    const into = await directory('into');
    const path = join(scratch, 'archive');
    await writeFile(path, 'no archive');
    await expect(unpackDirectory(tools, path, { directory: into, maxBytes: 1_000 })).rejects.toThrow(/./);
    await writeFile(path, zstdCompressSync(Buffer.from('no tar file, and longer than nothing'.repeat(100))));
    await expect(unpackDirectory(tools, path, { directory: into, maxBytes: 10_000 })).rejects.toThrow(/tar/);
    await writeFile(path, zstdCompressSync(tarOf('../outside', 'x')));
    await expect(unpackDirectory(tools, path, { directory: into, maxBytes: 10_000 })).rejects.toThrow(/\.\./);
    expect(await readdir(scratch)).not.toContain('outside');
  });

  it.runIf(process.getuid?.() === 0)('is packed and unpacked as the user of tasks, into files of its own', async () => {
    const user: TaskUser = { name: 'builds', uid: 64_003, gid: 64_003, home: '/nonexistent' };
    const as: Tools = { ...tools, user };
    await chmod(scratch, 0o711);
    const [made, into] = [await directory('of-user'), await directory('into')];
    for (const each of [made, into]) await chown(each, user.uid, user.gid);
    await writeFile(join(scratch, 'secret'), 'secret', { mode: 0o600 });
    await writeFile(join(made, 'mine'), 'x');
    await chown(join(made, 'mine'), user.uid, user.gid);
    const path = join(scratch, 'archive');
    const packed = await packDirectory(as, made, { path, maxBytes: 1_000_000 });
    expect((await stat(path)).uid).toBe(0);
    await unpackDirectory(as, path, { directory: into, maxBytes: packed.unpackedBytes });
    expect((await stat(join(into, 'mine'))).uid).toBe(user.uid);
    // A file that only root can read cannot be packed.
    await writeFile(join(made, 'of-root'), 'x', { mode: 0o600 });
    await rm(path);
    await expect(packDirectory(as, made, { path, maxBytes: 1_000_000 })).rejects.toThrow(/Permission denied/);
  });
});

/** One file in the format of tar, under any name. */
function tarOf(name: string, content: string): Buffer {
  const header = Buffer.alloc(512);
  header.write(name, 0);
  for (const [value, at] of [
    ['0000644\0', 100],
    ['0000000\0', 108],
    ['0000000\0', 116],
  ] as const)
    header.write(value, at);
  header.write(`${content.length.toString(8).padStart(11, '0')}\0`, 124);
  header.write('00000000000\0', 136);
  header.write('        0', 148);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return Buffer.concat([header, Buffer.from(content.padEnd(512, '\0')), Buffer.alloc(1_024)]);
}

describe('an instance', () => {
  const build = async (into: string): Promise<void> => writeFile(join(into, 'built'), 'here');
  async function obtain(
    answers: (BuildClaimAnswer | null)[],
    url = 'http://127.0.0.1:9/',
  ): Promise<{
    notes: SharedNote[];
    said: string[];
    files: string[];
    damaged: (string | null)[];
  }> {
    const [notes, said, damaged] = [[] as SharedNote[], [] as string[], [] as (string | null)[]];
    const shared: SharedBuilds = {
      claim: async (ask) => {
        damaged.push(ask.damaged);
        return answers.shift() ?? null;
      },
      progress: async (_build, { state }) => void said.push(state),
      announce: () => Promise.resolve(null),
      place: () => ({ url, headers: {} }),
      note: (note) => notes.push(note),
    };
    const into = await directory(`into-${(await readdir(scratch)).length}`);
    const common = { shared, tools, directory: into, hash: 'h', platform: 'p', isPinned: true, python: '/bin/true' };
    const obtained = await obtainEnvironment({ ...common, enter: () => undefined, build: () => build(into) });
    await obtained.upload?.();
    expect(await readdir(join(scratch, 'building'))).toEqual([]);
    return { notes, said, damaged, files: await readdir(into) };
  }
  const found = {
    do: 'download',
    build: 'b',
    sha256: 'a'.repeat(64),
    bytes: 3,
    unpackedBytes: 10_240,
    url: null,
  } as const;
  const toBuild = { do: 'build', build: 'b', claim: 1, renewEveryMs: 10_000, maxBytes: 1_000_000 } as const;

  it('builds by itself, and says why, when the control plane or the store does not answer', async () => {
    const silent = await obtain([null]);
    expect(silent).toMatchObject({ files: ['built'], notes: [{ code: 'ENVIRONMENT_NOT_SHARED' }] });
    const [note] = (await obtain([found])).notes;
    expect(note?.text).toMatch(/^built its environment by itself: its archive cannot be fetched: .*ECONNREFUSED/);
  });

  it('names a damaged archive once, and keeps nothing of it', async () => {
    const server = createServer((_request, response) => response.end('other bytes')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/`;
    try {
      const result = await obtain([found, { do: 'alone' }], url);
      expect(result).toMatchObject({ files: ['built'], damaged: [null, found.sha256] });
      // When every archive looks damaged, the instance is the cause.
      expect((await obtain([found, found], url)).damaged).toEqual([null, found.sha256]);
    } finally {
      server.close();
    }
  });

  it('that builds for others gives up its claim when its archive is too large or cannot be sent', async () => {
    const tooLarge = await obtain([{ ...toBuild, maxBytes: 5 }]);
    expect(tooLarge).toMatchObject({ said: ['building', 'too-large'], files: ['built'] });
    const unsent = await obtain([toBuild]);
    expect(unsent).toMatchObject({
      said: ['building', 'failed'],
      files: ['built'],
      notes: [{ code: 'ENVIRONMENT_NOT_SHARED' }],
    });
  });
});
