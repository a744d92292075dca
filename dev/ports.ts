// The ports of a stack, chosen once and kept in ports.json: agents and saved commands must find the API again after a
// restart. A kept port that another program has taken is an error, never replaced silently.
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { join } from 'node:path';

import { z } from 'zod';

import { RopewalkError } from '../domain/errors.ts';
import { errorCode } from '../providers/local/files.ts';
import type { DevConfig } from './config.ts';
import { readJson, writeJson } from '../ops/files.ts';

export interface Ports {
  temporal: number;
  ui: number;
  api: number;
  /** A separate origin from the API's, because the users of a cluster write the scripts of its dashboard. */
  dashboards: number;
}

/** `embedded` is false with an external Temporal: then only the API's two ports matter. */
export async function choosePorts(home: string, asked: DevConfig['ports'], embedded: boolean): Promise<Ports> {
  const path = join(home, 'ports.json');
  const kept = await readJson(path, keptPorts);
  const ports = { temporal: 0, ui: 0, api: 0, dashboards: 0 };
  const used = new Set<number>();
  for (const name of names) {
    const before = kept?.[name];
    // Another number in temporal-dev.yml is a change of settings, not a restart.
    const keep = before !== undefined && before.asked === asked[name];
    const isNeeded = embedded || name === 'api' || name === 'dashboards';
    if (keep && isNeeded && !(await isFree(before.port))) throw taken(name, before.port, path);
    ports[name] = keep ? before.port : await firstChoice(asked[name], used);
    used.add(ports[name]);
  }
  const entry = (name: (typeof names)[number]): z.infer<typeof keptPort> => ({ asked: asked[name], port: ports[name] });
  await writeJson(path, {
    temporal: entry('temporal'),
    ui: entry('ui'),
    api: entry('api'),
    dashboards: entry('dashboards'),
  });
  return ports;
}

const names = ['temporal', 'ui', 'api', 'dashboards'] as const;
const keptPort = z.object({ asked: z.union([z.number(), z.literal('auto')]), port: z.number() });
const keptPorts = z.object({ temporal: keptPort, ui: keptPort, api: keptPort, dashboards: keptPort });

/**
 * Below the ports that Linux and macOS assign to outgoing connections, and Temporal's server to its own services: those could
 * take one before the stack does.
 */
const chosenPorts = { first: 10_000, last: 32_767 };

async function firstChoice(asked: number | 'auto', used: Set<number>): Promise<number> {
  if (asked !== 'auto' && !used.has(asked) && (await isFree(asked))) return asked;
  for (;;) {
    const port = randomInt(chosenPorts.first, chosenPorts.last + 1);
    if (!used.has(port) && (await isFree(port))) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  try {
    await listenOnce(port);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EADDRINUSE' || errorCode(error) === 'EACCES') return false;
    throw error;
  }
}

function listenOnce(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ port, host: '127.0.0.1' }, () => server.close(() => resolve()));
  });
}

const taken = (name: string, port: number, path: string): RopewalkError =>
  new RopewalkError({
    code: 'CONFLICT',
    message: `port ${port}, which this stack uses for ${name}, is taken by a program that is not part of it`,
    hint: `Find it with "ss -ltnp 'sport = :${port}'" and end it; or, when no agents of an earlier run matter, delete ${path} to choose new ports.`,
  });
