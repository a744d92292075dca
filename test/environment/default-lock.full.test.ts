// The lock of the default environment: it holds each package by version and hash, and uv installs nothing else.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { buildEnvironment, type Recipe } from '../../agent/runtimes/environment/build.ts';
import { defaultLock, lockFor } from '../../agent/runtimes/environment/default-lock.ts';
import { defaultRequirements } from '../../agent/runtimes/environment/default-requirements.ts';
import { findInterpreter } from '../../agent/runtimes/environment/interpreter.ts';
import { normaliseRequirements } from '../../agent/runtimes/environment/requirements.ts';
import { toolEnvironment } from '../../agent/runtimes/environment/run-tool.ts';

const content = (requirements: readonly string[]) => ({
  requirements: normaliseRequirements(requirements),
  ...{ pinned: false, packageFiles: [], indexes: [] },
});

describe('the lock of the default environment', () => {
  it('has each requirement in its version, and a hash for every package', () => {
    expect(defaultRequirements.filter((each) => !defaultLock.some((line) => line.startsWith(`${each} `)))).toEqual([]);
    for (const line of defaultLock) expect(line).toMatch(/^[a-z0-9-]+==\S+ (; .+ )?--hash=sha256:[0-9a-f]{64}/);
    expect(defaultLock.length).toBeGreaterThan(30);
  });

  it('is for that environment alone: what users ask for may need other versions', () => {
    expect(lockFor(content(defaultRequirements.toReversed()))).toBe(defaultLock);
    expect(lockFor(content([...defaultRequirements, 'numpy']))).toEqual([]);
    expect(lockFor({ ...content(defaultRequirements), pinned: true })).toEqual([]);
  });
});

describe('uv', () => {
  let cacheDir: string;
  beforeAll(async () => void (cacheDir = await mkdtemp(join(tmpdir(), 'ropewalk-lock-'))));
  afterAll(() => rm(cacheDir, { recursive: true, force: true }));

  it('installs no file with another hash, not of a package that another one brings either', async () => {
    const tools = { user: null, environment: toolEnvironment(process.env, cacheDir), cacheDir, signal: undefined };
    const recipe: Recipe = {
      ...{ tools, requirements: ['partd==1.4.2'], pinned: false, packageFiles: [], indexes: [], base: null },
      python: await findInterpreter(tools, { version: null, callersPath: null, usualPath: 'python3' }),
      lock: [`locket==1.0.0 --hash=sha256:${'0'.repeat(64)}`],
      fetchPackageFile: () => Promise.reject(new Error('there is none')),
      enter: () => undefined,
    };
    const directory = await mkdtemp(join(cacheDir, 'environment-'));
    await expect(buildEnvironment(recipe, directory)).rejects.toThrow(/[Hh]ash mismatch for `?locket==1\.0\.0/);
    await expect(
      buildEnvironment({ ...recipe, lock: [] }, await mkdtemp(join(cacheDir, 'environment-'))),
    ).resolves.toBeUndefined();
  });
});
