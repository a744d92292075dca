// A database of the dev server is opened only by the version that wrote it.
import { chmod, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { guardDatabase } from '../../dev/database-version.ts';
import { eventually } from '../support/eventually.ts';
import { processesOfHome } from '../support/home-processes.ts';
import { makeHome, removeHome, spawnStack } from '../support/stack.ts';

let home = '';
let database = '';
beforeEach(async () => {
  home = await makeHome();
  database = join(home, 'temporal.db');
});
afterEach(() => removeHome(home));

describe('the database of the dev server', () => {
  it('is opened again by the version that made it, and by no other', async () => {
    const [older, newer] = [await binaryOf('1.9.1'), await binaryOf('1.10.0')];
    await guardDatabase(database, older);
    await writeFile(database, 'tables');
    await guardDatabase(database, older);
    await expect(guardDatabase(database, newer)).rejects.toThrow(
      `was written by "temporal version 1.9.1", and ${newer} is "temporal version 1.10.0"; it was not opened`,
    );
    await rm(database);
    await guardDatabase(database, newer);
    await writeFile(database, 'tables');
    await expect(guardDatabase(database, older)).rejects.toThrow('was written by "temporal version 1.10.0"');
  });

  it('is not opened while the version that wrote it is unknown, until an operator records it', async () => {
    const binary = await binaryOf('1.9.1');
    await writeFile(database, 'tables');
    await expect(guardDatabase(database, binary)).rejects.toThrow('it is not known which version of Temporal wrote');
    await writeFile(`${database}.version`, 'temporal version 1.9.1\n');
    await guardDatabase(database, binary);
  });

  it('stops the stack before anything runs, and stays as it was', async () => {
    await writeFile(database, 'of another age');
    await writeFile(`${database}.version`, 'temporal version 0.1.0 (Server 0.9)\n');
    const stack = await spawnStack(home);
    try {
      expect(await stack.exited).toBe(1);
      expect(stack.output()).toMatch(/was written by "temporal version 0\.1\.0 \(Server 0\.9\)"/);
      expect(stack.output()).toContain('TEMPORAL_CLI');
      expect(await readFile(database, 'utf8')).toBe('of another age');
      // The bundler's helper may need a moment to notice its parent's end.
      await eventually(async () => (await processesOfHome(home)).length === 0);
    } finally {
      await stack.killAll('SIGKILL');
    }
  });

  it('needs a binary that reports its version', async () => {
    await expect(guardDatabase(database, join(home, 'absent'))).rejects.toThrow('does not report its version');
  });
});

async function binaryOf(version: string): Promise<string> {
  const path = join(home, `temporal-${version}`);
  await writeFile(path, `#!/bin/sh\necho "temporal version ${version}"\n`);
  await chmod(path, 0o755);
  return path;
}
