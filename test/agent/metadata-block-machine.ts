// A machine with a metadata service, in a network namespace of its own: the servers, the agent's block, and the machine users'
// access. Run by metadata-block.full.test.ts under `unshare --net`; prints one line of JSON.
import { execFile } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

import { blockMetadata, metadataVariable } from '../../agent/lifecycle/metadata-block.ts';
import type { TaskUser } from '../../agent/processes/task-user.ts';

const [filter = '', isAllowed = ''] = process.argv.slice(2);
const [v4, v6] = ['169.254.169.254', 'fd00:ec2::254'];
const containers = { first: 1_900_000_000, count: 65_536 };
const user: TaskUser = { name: 'tasks', uid: 64_001, gid: 64_001, home: '/' };
const subordinateUsers = join(await mkdtemp(join(tmpdir(), 'rw-subuid-')), 'subuid');

for (const [port, address] of [
  [80, v4],
  [8080, v4],
  [53, v4],
  [80, v6],
  [80, '127.0.0.1'],
] as const) {
  const server = createServer((_, response) => response.end('credentials'));
  server.listen(port, address);
  await once(server, 'listening');
}
const resolver = createSocket('udp4').bind(53, v4);
resolver.on('message', (message, { port, address }) => resolver.send(message, port, address));
await once(resolver, 'listening');

const tcp = (address: string, port: number): string =>
  `exec 3<>/dev/tcp/${address}/${port} && printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3 && grep -q credentials <&3`;
const udp = `exec 3<>/dev/udp/${v4}/53 && echo query >&3 && dd bs=64 count=1 <&3 2>&1 | grep -q query`;
const probes = {
  metadata: tcp(v4, 80),
  otherPort: tcp(v4, 8080),
  metadata6: tcp(v6, 80),
  resolverTcp: tcp(v4, 53),
  resolverUdp: udp,
  elsewhere: tcp('127.0.0.1', 80),
};

/** The probes that a user reaches, by name. */
async function reached(uid: number): Promise<string[]> {
  const found = await Promise.all(
    Object.entries(probes).map(([name, script]) =>
      promisify(execFile)('bash', ['-c', script], { uid, gid: uid, timeout: 60_000 }).then(
        () => [name],
        () => [],
      ),
    ),
  );
  return found.flat();
}

const said: string[] = [];
const block = {
  user,
  subordinateUsers,
  environment: { ...process.env, [metadataVariable]: `${v4},${v6}` },
  log: { write: (text: string): void => void said.push(text) },
  isAllowed: isAllowed === 'allowed',
};
const chosen = filter === 'nft' || filter === 'iptables' ? ({ filter } as const) : {};
const before = await reached(user.uid);
let failure: string | null = null;
try {
  await blockMetadata({ ...block, ...chosen });
  // A host setup script may give the user more users for its containers.
  await writeFile(subordinateUsers, `other:1:65536\ntasks:${containers.first}:${containers.count}\n`);
  await blockMetadata({ ...block, ...chosen });
} catch (error) {
  failure = error instanceof Error ? error.message : String(error);
}
const after = {
  tasks: await reached(user.uid),
  ofContainers: await reached(containers.first),
  lastOfContainers: await reached(containers.first + containers.count - 1),
  agent: await reached(0),
  otherUser: await reached(64_002),
};
await rm(dirname(subordinateUsers), { recursive: true });
process.stdout.write(`${JSON.stringify({ before, after, failure, said })}\n`);
process.exit(0);
