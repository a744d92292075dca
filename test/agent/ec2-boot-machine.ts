// One machine of the emulated EC2 that boots from its user data, in a network namespace of its own. Run by ec2-boot.full.test.ts; prints
// one line of JSON.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

import { buildAgent } from '../../agent/build.ts';
import type { Owner } from '../../providers/provider.ts';
import { createAwsProvider } from '../../providers/aws/provider.ts';
import { startEmulator } from '../emulator/emulator.ts';
import { awsSettings, freshOwner, workersRequest } from '../providers/aws-cloud.ts';
import { startAgentApi } from '../support/agent-api.ts';
import { bootedMachines, consoleOf, startNodeMirror } from '../support/booted-machines.ts';
import { ec2Environment } from '../support/ec2-stack.ts';
import { eventually } from '../support/eventually.ts';

const scratch = await mkdtemp('/dev/shm/ropewalk-ec2-boot-');
const machines = bootedMachines(join(scratch, 'machines'));
const path = join(scratch, 'agent.mjs');
await buildAgent(path);
const agent = await readFile(path);
const program = createServer((_, response) => response.end(agent)).listen(0, '127.0.0.1');
await once(program, 'listening');
const url = `http://127.0.0.1:${(program.address() as AddressInfo).port}/agent.mjs`;
const mirror = await startNodeMirror();
const emulator = await startEmulator({ machines });
Object.assign(process.env, ec2Environment(emulator, ''));
const download = { url, sha256: createHash('sha256').update(agent).digest('hex'), apiCa: null };
const node = { x86_64: mirror.archive, arm64: mirror.archive };
const provider = createAwsProvider({ settings: { ...awsSettings, agent: { ...download, node } }, unseenMs: 1_000 });
const api = await startAgentApi();
const seconds = { timeoutMs: 150_000 };

/** A machine with this host setup script, until `until`; returns the reason of its end, its output, and its log. */
async function boot(hostSetupScript: string, until: (id: string, owner: Owner) => Promise<void>) {
  api.bundle = { ...api.bundle, command: ['sh', '-c', 'id -un; echo "$HOME"; ls /opt/ropewalk'], hostSetupScript };
  api.answer.stop = null;
  const owner = freshOwner();
  const { launched } = await provider.launch({
    ...workersRequest(owner, 1),
    apiUrl: api.url,
    launchToken: api.launchToken,
  });
  const id = launched[0]?.id ?? '';
  const end = async () => (await emulator.ledger()).entries.find((entry) => entry.id === id && entry.event === 'ended');
  await until(id, owner);
  const ended = await eventually(end, seconds).catch(async (cause: unknown) => {
    throw new Error(`it has not ended; its console:\n${await consoleOf(machines.directory, id)}`, { cause });
  });
  const log: string[] = [];
  for await (const { text } of provider.logs({ owner })) if (text !== '') log.push(text);
  return { why: ended.why, console: await consoleOf(machines.directory, id), log };
}

try {
  api.enqueue(1);
  const show = [
    'systemctl show ropewalk-watchdog.timer --property ActiveState --property TimersMonotonic',
    'echo "node $(/opt/ropewalk/node/bin/node --version)"',
    'systemctl is-enabled ropewalk-agent',
  ];
  const done = await boot(show.join('\n'), async () => {
    await eventually(() => api.results().length > 0, seconds);
    api.answer.stop = { code: 'JOB_OVER', text: 'Job 7 has ended.' };
  });
  const killed = await boot('systemctl kill --signal=KILL ropewalk-agent; sleep 60', async () => undefined);
  const terminated = await boot('true', async (id, owner) => {
    await eventually(() => api.exchanges.some(({ instance }) => instance === id), seconds);
    await provider.terminate(owner, [id], new AbortController().signal);
  });
  process.stdout.write(`${JSON.stringify({ done, killed, terminated })}\n`);
} finally {
  await emulator.stop();
  await api.close();
  for (const server of [program, mirror]) server.close();
  await rm(scratch, { recursive: true, force: true });
}
process.exit(0);
