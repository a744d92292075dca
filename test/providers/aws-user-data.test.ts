// The start-up script of an instance, run with replaced programs: its behaviour without a network. And the service that it
// writes, which systemd must understand in full: it ignores unknown keys.
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

import { expect, it } from 'vitest';

import { cloudRegisterTimeoutMs } from '../../domain/cluster/limits.ts';
import { createClusterCa, issueLeafAndKey } from '../../platform/pki/cluster-ca.ts';
import type { AgentDownload } from '../../providers/agent-setup.ts';
import { renderUserData } from '../../providers/aws/user-data.ts';
import { awsSettings, freshOwner } from './aws-cloud.ts';

it('sets the watchdog before anything that may fail, so that a machine without network powers itself off', async () => {
  const { exitCode, calls } = await runScript({ curl: 'exit 6' });
  expect(exitCode).toBe(6);
  expect(calls[0]).toMatch(/^systemd-run --on-active=30min --on-unit-active=30min .*poweroff$/);
  expect(calls.at(-1)).toMatch(/^curl /);
});

it('waits for an API that restarts for as long as it may register, and not for one that never answers', async () => {
  const { calls } = await runScript();
  const fetches = calls.filter((call) => call.startsWith('curl '));
  expect(fetches).toHaveLength(2);
  for (const call of fetches) {
    const option = (name: string): number => Number(new RegExp(` --${name} (\\d+) `).exec(call)?.[1]);
    const waitSeconds = option('retry') * option('retry-delay');
    expect(option('retry-max-time')).toBeLessThan(cloudRegisterTimeoutMs / 1_000);
    expect(option('retry-max-time')).toBeGreaterThanOrEqual(500);
    // Only the time limit ends the tries.
    expect(waitSeconds).toBeGreaterThanOrEqual(option('retry-max-time'));
    expect([option('connect-timeout'), option('speed-time')].every((seconds) => seconds <= 60)).toBe(true);
  }
});

it('tries its packages again when their mirror or their lock is not free, and gives up in the end', async () => {
  const failing = { python3: 'exit 1', 'apt-get': 'exit 100' };
  const passing = `[ $(/usr/bin/grep -c "^apt-get .*update" "$SAID") -ge 3 ] || exit 100`;
  const patient = await runScript({ ...failing, 'apt-get': passing });
  const packages = patient.calls.filter((call) => call.startsWith('apt-get '));
  expect(packages).toHaveLength(4);
  for (const call of packages) expect(call).toContain('DPkg::Lock::Timeout=300');
  expect(packages.at(-1)).toMatch(/ install .*python3-venv$/);
  expect(patient).toMatchObject({ exitCode: 0, service: expect.stringContaining('[Service]') });
  const beaten = await runScript(failing);
  expect(beaten).toMatchObject({ exitCode: 1, service: null });
  const pauses = beaten.calls.flatMap((call) => /^sleep (\d+)$/.exec(call)?.[1] ?? []);
  expect(pauses.length).toBeGreaterThan(3);
  expect(pauses.reduce((sum, seconds) => sum + Number(seconds), 0)).toBeLessThan(cloudRegisterTimeoutMs / 1_000);
});

it('makes the user of tasks where there is none, and names it to the agent', async () => {
  const made = await runScript({ id: 'exit 1', grep: 'exit 1' });
  expect(made.calls.filter((call) => call.startsWith('useradd '))).toEqual([
    'useradd --system --create-home --shell /bin/bash ropewalk',
  ]);
  expect(made.service).toContain(' ROPEWALK_TASK_USER=ropewalk');
  expect(made.service).toContain('\nEnvironment=ROPEWALK_METADATA_ADDRESSES=169.254.169.254,fd00:ec2::254\n');
  expect(made.calls).toContain(
    'usermod --add-subuids 1900000000-1900065535 --add-subgids 1900000000-1900065535 ropewalk',
  );
  const found = await runScript();
  expect(found.calls.filter((call) => call.startsWith('usermod '))).toEqual([]);
  expect(found.calls.filter((call) => call.startsWith('useradd '))).toEqual([]);
  const failed = await runScript({ id: 'exit 1', useradd: 'exit 9' });
  expect([failed.exitCode, failed.service]).toEqual([9, null]);
});

it('verifies an API with a private certificate: curl when it fetches the agent, Node when the agent calls', async () => {
  const ca = await createClusterCa({ cluster: 'private authority', validDays: 1 });
  const leaf = await issueLeafAndKey({
    ...{ ca, role: 'scheduler', subject: 'the API', addresses: ['127.0.0.1'], validDays: 1 },
  });
  const server = createServer({ cert: leaf.certificatePem, key: leaf.keyPem.reveal() }, (_, response) =>
    response.end('the agent'),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const url = `https://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/agent`;
  try {
    const download = { ...awsSettings.agent, url, apiCa: ca.certificatePem };
    const curl = 'case "$*" in *node.tar.xz*) exit 0 ;; esac; exec /usr/bin/curl "$@" 2>&1';
    const { exitCode, files, service } = await runScript({ curl }, download);
    expect([exitCode, files['agent.mjs'], files['api-ca.pem']?.trim()]).toEqual([
      0,
      'the agent',
      ca.certificatePem.trim(),
    ]);
    const caFile = /NODE_EXTRA_CA_CERTS=(\S+)/.exec(service ?? '')?.[1];
    expect(caFile).toBe('/opt/ropewalk/api-ca.pem');
    const trusted = join(await mkdtemp(join(tmpdir(), 'ropewalk-ca-')), 'api-ca.pem');
    await writeFile(trusted, files['api-ca.pem'] ?? '');
    const ask = `fetch(${JSON.stringify(url)}).then((r) => r.text()).then(console.log, (e) => console.log(e.cause.code))`;
    const node = async (env: Record<string, string>): Promise<string> =>
      (await promisify(execFile)(process.execPath, ['-e', ask], { env })).stdout.trim();
    expect(await node({ NODE_EXTRA_CA_CERTS: trusted })).toBe('the agent');
    expect(await node({})).not.toBe('the agent');
    await rm(dirname(trusted), { recursive: true });
  } finally {
    server.close();
  }
});

// systemd.unit(5), systemd.service(5) and systemd.exec(5): the valid keys of each section.
const knownKeys: Record<string, string[]> = {
  Unit: [
    ...['Description', 'After', 'Wants', 'SuccessAction', 'FailureAction'],
    ...['StartLimitIntervalSec', 'StartLimitBurst', 'StartLimitAction'],
  ],
  Service: ['Environment', 'ExecStart', 'Restart', 'RestartSec', 'KillMode', 'OOMPolicy'],
  Install: ['WantedBy'],
};

it('writes each key of the service into the section where systemd looks for it', () => {
  const sections = sectionsOf(serviceUnit());
  for (const [section, keys] of Object.entries(sections))
    expect(knownKeys[section]).toEqual(expect.arrayContaining(keys));
  expect(sections).toMatchObject({ Unit: expect.arrayContaining(['SuccessAction']), Install: ['WantedBy'] });
});

it('writes a service of which systemd-analyze has nothing to say', async (context) => {
  const directory = await mkdtemp(join(tmpdir(), 'ropewalk-unit-'));
  try {
    const path = join(directory, 'ropewalk-agent.service');
    await writeFile(path, serviceUnit().replace(/^ExecStart=.*$/m, 'ExecStart=/bin/true'));
    const analyzed = await promisify(execFile)('systemd-analyze', ['verify', path]).catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
      throw error;
    });
    if (analyzed === null) return context.skip();
    expect(`${analyzed.stdout}${analyzed.stderr}`).toBe('');
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

it('keeps the agent when the kernel ends a task of its service that takes too much memory', () => {
  expect(serviceUnit()).toMatch(/\[Service\]\n[^[]*^OOMPolicy=continue$/m);
});

it('leaves an agent that cannot start some minutes before it powers the machine off, and no more than the watchdog', () => {
  const unit = serviceUnit();
  const valueOf = (key: string): string => new RegExp(`^${key}=(.*)$`, 'm').exec(unit)?.[1] ?? '';
  const [restartSec, burst] = [Number(valueOf('RestartSec')), Number(valueOf('StartLimitBurst'))];
  expect(valueOf('StartLimitAction')).toBe('poweroff');
  expect(valueOf('StartLimitIntervalSec')).toBe('30min');
  expect(restartSec * burst).toBeGreaterThanOrEqual(5 * 60);
  expect(restartSec * burst).toBeLessThan(15 * 60);
});

interface ScriptRun {
  exitCode: number;
  /** Each called program, with its arguments. */
  calls: string[];
  service: string | null;
  /** The files that the script wrote or downloaded. */
  files: Record<string, string>;
}

/** The programs record their calls, and then do nothing, or run the given replacement. */
async function runScript(
  programs: Record<string, string> = {},
  download: AgentDownload = awsSettings.agent,
): Promise<ScriptRun> {
  const directory = await mkdtemp(join(tmpdir(), 'ropewalk-user-data-'));
  try {
    const said = join(directory, 'said');
    const path = join(directory, 'ropewalk-agent.service');
    const all = { ...Object.fromEntries(machine.map((name) => [name, ''])), cat: 'exec /bin/cat', ...programs };
    for (const [name, body] of Object.entries(all)) {
      const program = join(directory, name);
      await writeFile(program, `#!/bin/sh\necho ${name} "$@" >> "$SAID"\n${body}\n`);
      await chmod(program, 0o755);
    }
    const script = startupScript(download)
      .replace('cd /opt/ropewalk', `cd '${directory}'`)
      .replace('/etc/systemd/system/ropewalk-agent.service', path);
    const exitCode = await new Promise<number>((resolve) => {
      const child = execFile('/bin/sh', ['-c', script], { env: { PATH: directory, SAID: said } });
      child.once('exit', (code) => resolve(code ?? -1));
    });
    const calls = (await readFile(said, 'utf8')).trim().split('\n');
    const files: Record<string, string> = {};
    for (const name of ['agent.mjs', 'api-ca.pem']) {
      const text = await readFile(join(directory, name), 'utf8').catch(() => null);
      if (text !== null) files[name] = text;
    }
    return { exitCode, calls, service: await readFile(path, 'utf8').catch(() => null), files };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

const machine = [
  ...['mkdir', 'systemd-run', 'systemctl', 'curl', 'sha256sum', 'tar', 'rm', 'sleep'],
  ...['python3', 'apt-get', 'id', 'useradd', 'usermod', 'grep'],
];

function startupScript(download: AgentDownload = awsSettings.agent): string {
  const boot = { apiUrl: 'https://ropewalk.example', launchToken: 'a launch token', owner: freshOwner() };
  return renderUserData(boot, download, 'x86_64');
}

const serviceUnit = (): string => /<<'UNIT'\n([\s\S]*?)\nUNIT\n/.exec(startupScript())?.[1] ?? '';

/** The keys of each section. */
function sectionsOf(unit: string): Record<string, string[]> {
  const sections: Record<string, string[]> = {};
  let keys: string[] = [];
  for (const line of unit.split('\n').filter((each) => each !== '' && !each.startsWith('#'))) {
    const section = /^\[(\w+)\]$/.exec(line)?.[1];
    if (section === undefined) keys.push(line.slice(0, line.indexOf('=')));
    else keys = sections[section] = [];
  }
  return sections;
}
