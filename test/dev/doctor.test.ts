// The doctor on a real stack, on an empty home, and on deliberate faults: it must find each, with a remedy.
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { addressFinding, clockFinding, readinessFinding, signInFinding } from '../../ops/doctor/api.ts';
import { examine, isBroken } from '../../ops/doctor/doctor.ts';
import type { Finding, Patient } from '../../ops/doctor/finding.ts';
import { diskFinding } from '../../ops/doctor/home.ts';
import { nodeFinding } from '../../ops/doctor/tools.ts';
import { runCli } from '../cli/run-cli.ts';
import { startStack, type TestStack } from '../support/stack.ts';

const env = { PATH: process.env['PATH'] };
const stateOf = (findings: Finding[], check: string) => findings.find((finding) => finding.check === check)?.state;
const brokenOnes = (findings: Finding[]) =>
  findings.filter(({ state }) => state === 'broken').map(({ check }) => check);

describe('the doctor at a running stack', () => {
  let stack: TestStack;
  beforeAll(async () => {
    stack = await startStack();
  });
  afterAll(() => stack?.stop());

  it('finds nothing broken, and says so to people and to programs', async () => {
    const { home, apiUrl, token } = stack;
    const findings = await examine({ env, home, connection: { apiUrl, token } });
    expect(brokenOnes(findings)).toEqual([]);
    for (const check of [
      'api',
      'readiness',
      'token',
      'clock',
      'database',
      'deployment',
      'temporal',
      'namespace',
      'workflows',
      'home',
      'keys.json',
      'disk',
    ]) {
      expect([check, stateOf(findings, check)]).not.toEqual([check, undefined]);
    }
    expect(JSON.stringify(findings)).not.toContain(token);
    const table = await runCli(['doctor'], { env: { ROPEWALK_HOME: home } });
    expect([table.code, table.stdout]).toEqual([0, expect.stringContaining('What to do')]);
  });

  it('finds a wrong token', async () => {
    const { home, apiUrl } = stack;
    const token = `rw_default_aaaaaaaaaaaa-${'a'.repeat(43)}`;
    const findings = await examine({ env, home, connection: { apiUrl, token } });
    expect(brokenOnes(findings)).toEqual(['token']);
  });
});

describe('the doctor at a broken installation', () => {
  const homes: string[] = [];
  afterEach(async () => {
    for (const home of homes.splice(0)) await rm(home, { recursive: true, force: true });
  });
  const patient = async (): Promise<Patient> => {
    const home = await mkdtemp(join(tmpdir(), 'ropewalk-doctor-'));
    homes.push(home);
    await mkdir(join(home, 'run'));
    return { env, home, connection: { problem: 'no token' } };
  };

  it('finds nothing broken in an empty home, only what does not exist yet', async () => {
    const findings = await examine(await patient());
    expect(isBroken(findings)).toBe(false);
    expect(stateOf(findings, 'api')).toBe('warning');
  });

  it('finds keys that others can read, a home that others can write, and a bundle that is not there', async () => {
    const sick = await patient();
    await writeFile(join(sick.home, 'keys.json'), '{}', { mode: 0o644 });
    await chmod(sick.home, 0o777);
    const findings = await examine({ ...sick, env: { ...env, ROPEWALK_AGENT_BUNDLE: '/nowhere/agent.mjs' } });
    expect(brokenOnes(findings).sort()).toEqual(['agent bundle', 'home', 'keys.json']);
    for (const { fix } of findings.filter(({ state }) => state !== 'ok')) expect(fix).not.toBe('');
  });

  it('finds a foreign process at a kept port, and an unavailable API and Temporal', async () => {
    const sick = await patient();
    const stranger = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => stranger.once('listening', resolve));
    try {
      const address = stranger.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      await writeFile(join(sick.home, 'ports.json'), JSON.stringify({ api: { asked: 'auto', port } }));
      const findings = await examine({
        ...sick,
        env: { ...env, TEMPORAL_ADDRESS: '127.0.0.1:1' },
        connection: { apiUrl: 'http://127.0.0.1:1', token: 'x' },
      });
      expect(brokenOnes(findings).sort()).toEqual(['api', `port ${port}`, 'temporal']);
    } finally {
      stranger.close();
    }
  });

  it('checks clocks, disks, versions and readiness', () => {
    const ready = [
      readinessFinding(true, []),
      readinessFinding(true, ['temporal']),
      readinessFinding(false, ['database']),
    ];
    expect(ready.map(({ state }) => state)).toEqual(['ok', 'warning', 'broken']);
    expect([1_000, 60_000, -200_000].map((ms) => clockFinding(ms).state)).toEqual(['ok', 'warning', 'broken']);
    expect([9e9, 3e9, 1e8].map((bytes) => diskFinding(bytes).state)).toEqual(['ok', 'warning', 'broken']);
    expect(['v24.1.0', 'v20.1.0'].map((version) => nodeFinding(version).state)).toEqual(['ok', 'broken']);
  });

  it('says how people sign in, and how links in e-mails are turned on', () => {
    expect(signInFinding({ provider: null, mail: false }).text).toContain('ROPEWALK_MAIL_SIGN_IN=on');
    const text = 'API tokens, accounts of Google, links in e-mails';
    expect(signInFinding({ provider: { name: 'Google' }, mail: true })).toMatchObject({ state: 'ok', text });
  });

  it.each([
    ['http://127.0.0.1:7300', 'ok'],
    ['http://[::1]:7300', 'ok'],
    ['https://ropewalk.example', 'ok'],
    ['http://10.0.0.7:7300', 'warning'],
    ['http://ropewalk.example', 'warning'],
  ])('the API at %s: %s', (apiUrl, state) => {
    expect(addressFinding(apiUrl)).toMatchObject({ check: 'api', state });
  });
});
