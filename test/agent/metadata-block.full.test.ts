// Tasks and the metadata service, with the kernel's packet filter in a network namespace: nothing on this machine is changed.
import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { describe, expect, it } from 'vitest';
import { z } from 'zod';

const canUnshare = spawnSync('unshare', ['--net', 'ip', 'link', 'set', 'lo', 'up']).status === 0;
const has = (program: string): boolean =>
  canUnshare && spawnSync('unshare', ['--net', 'sh', '-c', `PATH=$PATH:/usr/sbin:/sbin; ${program}`]).status === 0;

const names = z.array(z.string());
const result = z.object({
  before: names,
  after: z.object({
    tasks: names,
    ofContainers: names,
    lastOfContainers: names,
    agent: names,
    otherUser: names,
  }),
  failure: z.string().nullable(),
  said: names,
});

const network = [
  'ip link set lo up',
  'ip address add 169.254.169.254/32 dev lo',
  'ip address add fd00:ec2::254/128 dev lo nodad',
  'exec "$@"',
].join(' && ');

async function machine(filter: string, allowed: string, env: NodeJS.ProcessEnv = process.env) {
  const program = [process.execPath, join(import.meta.dirname, 'metadata-block-machine.ts'), filter, allowed];
  const { stdout } = await promisify(execFile)('unshare', ['--net', 'sh', '-c', network, 'sh', ...program], { env });
  return result.parse(JSON.parse(stdout));
}

const all = ['metadata', 'otherPort', 'metadata6', 'resolverTcp', 'resolverUdp', 'elsewhere'];
const others = ['resolverTcp', 'resolverUdp', 'elsewhere'];

describe.runIf(canUnshare)('the metadata service', () => {
  it.runIf(has('nft list ruleset')).each(['nft'])(
    'is closed to tasks and containers by %s, and to no other user',
    check,
  );
  it.runIf(has('iptables -S && ip6tables -S')).each(['iptables'])(
    'is closed to tasks and containers by %s, and to no other user',
    check,
  );

  async function check(filter: string): Promise<void> {
    const { before, after, failure, said } = await machine(filter, 'closed');
    expect(failure).toBeNull();
    expect(before).toEqual(all);
    expect(after).toEqual({
      tasks: others,
      ofContainers: others,
      lastOfContainers: others,
      agent: all,
      otherUser: all,
    });
    expect(said.at(-1)).toBe(`Tasks cannot reach the metadata service (169.254.169.254, fd00:ec2::254; ${filter}).`);
  }

  it('is open to tasks whose job asked for the credentials of the instance', async () => {
    const { after, failure, said } = await machine('', 'allowed');
    expect({ tasks: after.tasks, failure }).toEqual({ tasks: all, failure: null });
    expect(said[0]).toContain('Tasks can use the credentials of this instance');
  });
});
