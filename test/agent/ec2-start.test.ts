// An agent on EC2 with an unresponsive metadata service: systemd restarts it, and the next one must be able to begin.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { buildAgent } from '../../agent/build.ts';
import { freePort } from '../support/free-port.ts';

it('an agent that cannot read its instance id leaves the claim of the instance to the next agent', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'ropewalk-ec2-start-'));
  const bundle = join(directory, 'agent.mjs');
  const env = {
    PATH: '/usr/bin:/bin',
    ROPEWALK_CLOUD: 'aws',
    ROPEWALK_INSTANCE_DIR: join(directory, 'own'),
    ROPEWALK_LOG_DIR: join(directory, 'logs'),
    AWS_EC2_METADATA_SERVICE_ENDPOINT: `http://127.0.0.1:${await freePort()}`,
  };
  const run = async (): Promise<unknown> => {
    const agent = spawn(process.execPath, [bundle], { env, stdio: 'ignore' });
    return (await once(agent, 'exit'))[0];
  };
  try {
    await buildAgent(bundle);
    // An exit with 0 powers the machine off: only for an unwanted or finished agent.
    expect([await run(), await run()]).toEqual([1, 1]);
    const said = await readFile(join(directory, 'logs', 'agent.jsonl'), 'utf8');
    expect(said.match(/metadata cannot be read/g)).toHaveLength(2);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
