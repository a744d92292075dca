// Machines of an emulated cloud that are real agent processes: their metadata server is their only source.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import { buildAgent } from '../../agent/build.ts';
import type { MachineOptions } from '../emulator/machines.ts';
import { node24 } from './stack.ts';

const sharedCache = join(import.meta.dirname, '../../node_modules/.cache/ropewalk/python');
/** The variables of the tests' environment that an installation of Python packages may need. */
const reachingOut = /^(PATH|SSL_CERT_|REQUESTS_CA|PIP_|UV_|HTTPS?_PROXY|NO_PROXY|https?_proxy|no_proxy)/;

/** `cloud`: the value of ROPEWALK_CLOUD. `before`: shell commands before the agent starts. */
export async function realMachines(directory: string, cloud: string, before = ''): Promise<MachineOptions> {
  const agent = join(directory, 'agent.mjs');
  await buildAgent(agent);
  await mkdir(sharedCache, { recursive: true, mode: 0o700 });
  const start = `unset ROPEWALK_INSTANCE
    export ROPEWALK_INSTANCE_DIR="$PWD/instance" ROPEWALK_LOG_DIR="$PWD/logs"
    ${before}
    exec "$NODE" "$AGENT"`;
  return {
    command: ['sh', '-c', start],
    directory: join(directory, 'machines'),
    environment: {
      ...Object.fromEntries(Object.entries(process.env).filter(([name]) => reachingOut.test(name))),
      NODE: node24,
      AGENT: agent,
      ROPEWALK_CLOUD: cloud,
      ROPEWALK_CACHE_DIR: sharedCache,
    },
  };
}
