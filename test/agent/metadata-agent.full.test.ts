// A task of a real agent on an emulated instance requests credentials from the metadata service.
import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { describe, expect, it } from 'vitest';
import { z } from 'zod';

const filters = 'ip link set lo up && (PATH=$PATH:/usr/sbin:/sbin; nft list ruleset || iptables -S)';
const canFilter = spawnSync('unshare', ['--net', 'sh', '-c', filters]).status === 0;
const network = 'ip link set lo up && ip address add 169.254.169.254/32 dev lo && exec "$@"';

async function taskOf(...words: string[]): Promise<unknown> {
  const program = [process.execPath, join(import.meta.dirname, 'metadata-agent-machine.ts'), ...words];
  const { stdout } = await promisify(execFile)('unshare', ['--net', 'sh', '-c', network, 'sh', ...program]);
  return JSON.parse(stdout);
}

describe.runIf(canFilter)('a task that asks for the credentials of its instance', () => {
  it('is refused unless its job asked for them', async () => {
    expect(await taskOf('closed')).toEqual({
      exitCodes: [1],
      printed: [expect.stringContaining('Connection refused'), expect.any(String)],
      leaving: null,
    });
  });

  it('is refused also where a host setup script has removed the rules of the filter', async () => {
    const script = 'PATH=$PATH:/usr/sbin:/sbin; nft flush ruleset || iptables -F OUTPUT';
    const { exitCodes } = z.object({ exitCodes: z.array(z.number()) }).parse(await taskOf('closed', '', script));
    expect(exitCodes).toEqual([1]);
  });

  it('gets them where its job asked for them', async () => {
    expect(await taskOf('allowed')).toEqual({ exitCodes: [0], printed: ['credentials'], leaving: null });
  });

  it('does not run on an instance that cannot refuse it, and the instance says why', async () => {
    expect(await taskOf('closed', 'without-filter')).toEqual({
      exitCodes: [],
      printed: [],
      leaving: expect.stringMatching(/^The metadata service of this instance could not be closed to tasks: .*iptables/),
    });
  });
});
