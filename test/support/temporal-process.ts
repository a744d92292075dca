// Starts and ends a Temporal dev server that keeps everything in memory. It is ended with SIGKILL: none of its data is kept.
import { spawn } from 'node:child_process';

import { findTemporalBinary } from '../../dev/temporal-binary.ts';
import { freePort } from './free-port.ts';

/** Overrides of Temporal's own limits, such as `limit.historyCount.suggestContinueAsNew`. */
export type DynamicConfig = Record<string, number>;

export interface TemporalProcess {
  address: string;
  stop: () => Promise<void>;
}

const searchAttributes = ['RopewalkWorkspace', 'RopewalkUser', 'RopewalkStatus'];

/** Does not wait until the server answers: clients connect with retries. */
export async function startTemporalProcess(options: {
  namespaces: readonly string[];
  dynamicConfig?: DynamicConfig;
}): Promise<TemporalProcess> {
  const binary = await findTemporalBinary({ env: process.env, say: () => undefined });
  const port = await freePort();
  const server = spawn(
    binary,
    [
      ...['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(port), '--headless', '--log-level', 'never'],
      ...options.namespaces.flatMap((name) => ['--namespace', name]),
      ...searchAttributes.flatMap((name) => ['--search-attribute', `${name}=Keyword`]),
      ...Object.entries(options.dynamicConfig ?? {}).flatMap(([key, value]) => [
        '--dynamic-config-value',
        `${key}=${value}`,
      ]),
    ],
    { stdio: 'ignore' },
  );
  const exited = new Promise<void>((resolve) => server.once('exit', () => resolve()));
  return {
    address: `127.0.0.1:${port}`,
    stop: async () => {
      server.kill('SIGKILL');
      await exited;
    },
  };
}
