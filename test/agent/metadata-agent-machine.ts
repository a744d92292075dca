// An emulated EC2 instance in a network namespace of its own, whose metadata service also has its real address: an agent as root
// runs one task that requests credentials. Run by metadata-agent.full.test.ts; prints one line of JSON.
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { buildAgent } from '../../agent/build.ts';
import { startAgentApi } from '../support/agent-api.ts';
import { eventually } from '../support/eventually.ts';
import { freshOwner, startCloud, workersRequest } from '../providers/aws-cloud.ts';

const [credentials = '', filter = '', hostSetupScript = null] = process.argv.slice(2);
const service = createServer((_, response) => response.end('credentials\n')).listen(80, '169.254.169.254');
await once(service, 'listening');

const scratch = await mkdtemp(join(tmpdir(), 'ropewalk-metadata-'));
await chmod(scratch, 0o711);
const agent = join(scratch, 'agent.mjs');
await buildAgent(agent);
const own = `ROPEWALK_INSTANCE_DIR="${scratch}/instance" ROPEWALK_LOG_DIR="${scratch}/logs"`;
const variables = `ROPEWALK_CLOUD=aws ROPEWALK_TASK_USER=daemon ROPEWALK_METADATA_ADDRESSES=169.254.169.254 ${own}`;
const endpoint = 'AWS_ENDPOINT_URL="${AWS_EC2_METADATA_SERVICE_ENDPOINT%/imds/*}"';
// Without this capability root cannot set a rule, as on a machine without a packet filter.
const limited = filter === 'without-filter' ? 'setpriv --bounding-set -net_admin --inh-caps -net_admin' : '';
const cloud = await startCloud(
  `unset ROPEWALK_INSTANCE; export ${variables} ${endpoint}; exec ${limited} "${process.execPath}" "${agent}"`,
);
const api = await startAgentApi();
try {
  const ask = 'exec 3<>/dev/tcp/169.254.169.254/80 && printf "GET / HTTP/1.0\\r\\n\\r\\n" >&3 && grep credentials <&3';
  api.bundle = { ...api.bundle, command: ['bash', '-c', ask], hostSetupScript };
  api.registration.instanceCredentials = credentials === 'allowed';
  api.enqueue(1);
  const owner = freshOwner();
  await cloud.provider.launch({ ...workersRequest(owner, 1), apiUrl: api.url, launchToken: api.launchToken });
  const hasEnded = (): boolean => api.results().length > 0 || api.reports.some(({ kind }) => kind === 'leaving');
  await eventually(hasEnded, { timeoutMs: 60_000 });
  api.answer.stop = { code: 'JOB_OVER', text: 'Job 7 has ended.' };
  await eventually(async () => (await cloud.emulator.ledger()).live.length === 0, { timeoutMs: 60_000 });
  const printed: string[] = [];
  for await (const { task, text } of cloud.provider.logs({ owner })) if (task === 1 && text !== '') printed.push(text);
  const leaving = api.reports.find(({ kind }) => kind === 'leaving');
  const exitCodes = api.results().map(({ exitCode }) => exitCode);
  process.stdout.write(`${JSON.stringify({ exitCodes, printed, leaving: leaving?.text ?? null })}\n`);
} finally {
  await api.close();
  await cloud.close();
  await rm(scratch, { recursive: true, force: true });
}
process.exit(0);
