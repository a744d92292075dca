// The Temporal server of the one-machine stack has neither UI nor HTTP API for web pages.
import { once } from 'node:events';
import { chmod, readdir, stat } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';

import { afterEach, expect, it } from 'vitest';

import { defaultConfigPath, readDevConfig } from '../../dev/config.ts';
import { makePrivate, openHome } from '../../dev/home.ts';
import { choosePorts } from '../../dev/ports.ts';
import { createSupervisor } from '../../dev/supervisor.ts';
import { embeddedTemporal, temporalServer } from '../../dev/temporal.ts';
import { findTemporalBinary } from '../../dev/temporal-binary.ts';
import { makeHome, removeHome } from '../support/stack.ts';
import { listeningPorts } from '../support/listening-ports.ts';

const endings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).toReversed()) await end();
});

/** Null when the port does not speak HTTP. */
async function statusOf(port: number, host: string): Promise<number | null> {
  const asked = request({ port, host: '127.0.0.1', path: '/api/v1/namespaces', headers: { host } });
  asked.end();
  const answer = await once(asked, 'response').catch(() => null);
  answer?.[0].resume();
  return answer === null ? null : Number(answer[0].statusCode);
}

/** A running server in a home of its own that others may enter. */
async function start() {
  const path = await makeHome();
  endings.push(() => removeHome(path));
  await chmod(path, 0o755);
  const home = await openHome(path);
  const config = await readDevConfig(defaultConfigPath);
  const ports = await choosePorts(path, { temporal: 'auto', ui: 'auto', api: 'auto', dashboards: 'auto' }, true);
  const connection = embeddedTemporal(ports, config).connect();
  endings.push(() => connection.close());
  const env = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' };
  const binary = await findTemporalBinary({ env: process.env, say: () => undefined });
  const supervisor = createSupervisor({ runDir: join(path, 'run'), say: () => undefined, onSpawn: () => undefined });
  endings.push(() => supervisor.stop('temporal'));
  await supervisor.start(temporalServer({ binary, home, ports, config, env, connection }));
  await makePrivate(home.database);
  return { path, ports, pid: supervisor.pids()['temporal'] ?? 0 };
}

it('no port of it answers HTTP with anything but a refusal, and its database is its owner’s alone', async () => {
  const { path, ports, pid } = await start();
  const open = await listeningPorts(pid);
  expect(open).toContain(ports.temporal);
  expect(open).not.toContain(ports.ui);
  const refusals: number[] = [];
  for (const port of open) {
    for (const host of ['evil.example', 'localhost', `127.0.0.1:${port}`]) {
      const status = await statusOf(port, host);
      if (status !== null) refusals.push(status);
    }
  }
  expect(refusals).toContain(403);
  expect(refusals.filter((status) => status < 400)).toEqual([]);
  const files = (await readdir(path)).filter((name) => name.startsWith('temporal.db'));
  expect(files.length).toBeGreaterThan(1);
  for (const name of files) expect((await stat(join(path, name))).mode & 0o077).toBe(0);
});
