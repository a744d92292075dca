// AWS credentials that a Dask client sends to its cluster: only the cluster has them.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, it } from 'vitest';

import { findIn, findInFiles, findInProcesses, formsOf, readTemporal } from '../security/canaries.ts';
import { eventually } from '../support/eventually.ts';
import { makeDaskHome } from '../support/dask.ts';
import { removeHome, startStack, type TestStack } from '../support/stack.ts';
import { type BuiltPackage, buildPackage } from './built-package.ts';

const minutes = 60_000;
const canary = `canary${Date.now()}`;

let built: BuiltPackage;
let stack: TestStack;
let shared: string;
let home: string;
beforeAll(async () => {
  shared = await mkdtemp(join(tmpdir(), 'ropewalk-shared-'));
  home = await makeDaskHome();
  built = await buildPackage();
  stack = await startStack({
    home,
    overrides: { api: { logLevel: 'debug' }, worker: { logLevel: 'debug' } },
    readyWithinMs: 4 * minutes,
  });
}, 9 * minutes);
afterAll(async () => {
  await stack?.stop();
  await built?.remove();
  if (home !== undefined) await removeHome(home);
  await rm(shared, { recursive: true, force: true });
});

it(
  'reach scheduler and workers, and neither files, histories, output nor the environment and arguments of a process',
  async () => {
    const running = built.pytest(['-m', 'full', 'tests/test_credentials_stack.py'], {
      ROPEWALK_TEST_API_URL: stack.apiUrl,
      ROPEWALK_TEST_TOKEN: stack.token,
      ROPEWALK_TEST_SHARED: shared,
      ROPEWALK_TEST_CANARY: canary,
    });
    const ended = running.then(({ trouble }) => Promise.reject(new Error(trouble.join('\n'))));
    const text = await Promise.race([
      ended,
      eventually(() => readFile(join(shared, 'secrets.json'), 'utf8').catch(() => null), { timeoutMs: 4 * minutes }),
    ]);
    ended.catch(() => undefined);
    const { AWS_CREDENTIAL_EXPIRATION: _expiration, ...secrets }: Record<string, string> = JSON.parse(text);
    expect(Object.keys(secrets)).toHaveLength(3);
    const forms = formsOf({ ...secrets, canary });
    const inProcesses = await findInProcesses(forms, (environ) => environ.includes('ROPEWALK_TEST_CANARY='));
    expect(inProcesses.processes).toBeGreaterThan(5);
    expect(inProcesses.hits).toEqual([]);
    await writeFile(join(shared, 'go'), '');
    const { passed, trouble } = await running;
    expect({ passed, trouble }).toEqual({ passed: 1, trouble: [] });

    const histories = (await readTemporal({ address: stack.temporalAddress, namespace: stack.namespace })).join('\n');
    // The search covers the right places.
    expect(histories).toContain('cluster/');
    for (const [place, kept] of Object.entries({ histories, output: stack.output() }))
      expect(findIn(forms, kept, place)).toEqual([]);
    const inFiles = await findInFiles(forms, stack.home, () => false);
    expect(inFiles.files).toBeGreaterThan(10);
    expect(inFiles.hits).toEqual([]);
  },
  6 * minutes,
);
