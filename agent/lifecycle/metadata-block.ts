// Blocks tasks from the cloud's metadata service, which returns the credentials of the instance's role to any process: a packet
// filter rule by the user of the socket. The agent is another user, and needs the service.
import { spawn } from 'node:child_process';
import { access, readFile } from 'node:fs/promises';
import { isIP } from 'node:net';

import type { TaskUser } from '../processes/task-user.ts';
import type { AgentInput } from './input.ts';

/** Set by the provider's user data: the addresses of the metadata service, separated by commas. */
export const metadataVariable = 'ROPEWALK_METADATA_ADDRESSES';

export interface MetadataBlock extends Pick<AgentInput, 'user' | 'environment'> {
  log: Pick<AgentInput['log'], 'write'>;
  /** The job or cluster requested the instance's credentials. */
  isAllowed: boolean;
  /** Default: the filter of this machine. */
  filter?: FilterName;
  /** Default: /etc/subuid. It lists the users of containers, and root may change it: a later call blocks those too. */
  subordinateUsers?: string;
}

/**
 * Rejects with a user-facing reason where the rule cannot be set: an instance that cannot block tasks from the service runs
 * none. Does nothing where tasks run as the agent's own user, outside clouds.
 */
export async function blockMetadata({ user, environment, log, isAllowed, ...given }: MetadataBlock): Promise<void> {
  const addresses = (environment[metadataVariable] ?? '').split(',').filter((address) => isIP(address) !== 0);
  if (user === null || addresses.length === 0) return;
  if (isAllowed) {
    log.write('Tasks can use the credentials of this instance: its metadata service is open to them.');
    return;
  }
  const { filter, subordinateUsers = '/etc/subuid' } = given;
  const known = filter === undefined ? (['nft', 'iptables'] as const) : [filter];
  const uids = await uidsOf(user, subordinateUsers);
  const env = { PATH: `/usr/sbin:/sbin:${environment['PATH'] ?? '/usr/bin:/bin'}` };
  const failures: string[] = [];
  for (const name of known) {
    const failure = await filters[name]({ addresses, uids, env });
    if (failure === null)
      return log.write(`Tasks cannot reach the metadata service (${addresses.join(', ')}; ${name}).`);
    failures.push(failure);
  }
  throw new Error(
    `The metadata service of this instance could not be closed to tasks: ${failures.join('; ')}. Install nftables or iptables in ` +
      'the image, or let tasks use the credentials of their instance (--instance-credentials).',
  );
}

type FilterName = 'nft' | 'iptables';

interface Wanted {
  addresses: readonly string[];
  uids: readonly string[];
  env: { PATH: string };
}

/** Return the problem, or null. Each replaces the rules of an earlier agent of this instance. */
const filters: Record<FilterName, (wanted: Wanted) => Promise<string | null>> = {
  nft: ({ addresses, uids, env }) => run(['nft', '-f', '-'], env, nftRules(addresses, uids)),
  iptables: async ({ addresses, uids, env }) => {
    for (const [program, version] of [['iptables', 4] as const, ['ip6tables', 6] as const]) {
      const ours = addresses.filter((address) => isIP(address) === version);
      // A kernel without IPv6 has no route to its addresses.
      if (ours.length === 0 || (version === 6 && !(await exists('/proc/net/if_inet6')))) continue;
      const isLinked = (await run([program, '-w', '60', '-C', 'OUTPUT', '-j', chain], env)) === null;
      const failure =
        (await run([`${program}-restore`, '-w', '60', '--noflush'], env, iptablesRules(ours, uids))) ??
        (isLinked ? null : await run([program, '-w', '60', '-I', 'OUTPUT', '1', '-j', chain], env));
      if (failure !== null) return failure;
    }
    return null;
  },
};

const chain = 'ROPEWALK';

/** The user of tasks, and those of its containers. */
async function uidsOf({ name, uid }: TaskUser, subordinateUsers: string): Promise<string[]> {
  const text = await readFile(subordinateUsers, 'utf8').catch(() => '');
  const ofContainers = text.split('\n').flatMap((line) => {
    const [owner = '', first = '', count = ''] = line.split(':');
    const isOurs = (owner === name || owner === String(uid)) && /^\d+$/.test(first) && /^[1-9]\d*$/.test(count);
    return isOurs ? [`${first}-${Number(first) + Number(count) - 1}`] : [];
  });
  return [String(uid), ...ofContainers];
}

/** Port 53 stays open: on Google Cloud the same address is the resolver. */
function nftRules(addresses: readonly string[], uids: readonly string[]): string {
  const rules = addresses.map(
    (address) =>
      `meta skuid { ${uids.join(', ')} } ${isIP(address) === 4 ? 'ip' : 'ip6'} daddr ${address} ` +
      'tcp dport != 53 reject with tcp reset',
  );
  const table = 'table inet ropewalk';
  return [
    table,
    `delete ${table}`,
    `${table} {`,
    'chain output { type filter hook output priority 0; policy accept;',
    ...rules,
    '}',
    '}',
    '',
  ].join('\n');
}

function iptablesRules(addresses: readonly string[], uids: readonly string[]): string {
  const rules = addresses.flatMap((address) =>
    uids.map(
      (each) =>
        `-A ${chain} -d ${address} -p tcp ! --dport 53 -m owner --uid-owner ${each} -j REJECT --reject-with tcp-reset`,
    ),
  );
  return ['*filter', `:${chain} - [0:0]`, ...rules, 'COMMIT', ''].join('\n');
}

function run([program = '', ...args]: readonly string[], env: { PATH: string }, input = ''): Promise<string | null> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { env, stdio: ['pipe', 'ignore', 'pipe'], timeout: 120_000 });
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
    child.stdin.on('error', () => undefined);
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code) =>
      resolve(code === 0 ? null : `${program}: ${said.trim().slice(0, 300) || `exit code ${code}`}`),
    );
    child.stdin.end(input);
  });
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
