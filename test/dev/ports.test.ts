import { createServer, type Server } from 'node:net';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { choosePorts } from '../../dev/ports.ts';
import { makeHome, removeHome } from '../support/stack.ts';

const auto = { temporal: 'auto', ui: 'auto', api: 'auto', dashboards: 'auto' } as const;
let home = '';
const servers: Server[] = [];
beforeEach(async () => {
  home = await makeHome();
});
afterEach(async () => {
  for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve));
  await removeHome(home);
});

describe('the ports of a home', () => {
  it('are kept, and differ from each other', async () => {
    const first = await choosePorts(home, auto, true);
    expect(new Set(Object.values(first)).size).toBe(4);
    expect(await choosePorts(home, auto, true)).toEqual(first);
  });

  it('give way to a free one the first time, when the wanted one is taken', async () => {
    const { api } = await choosePorts(home, auto, true);
    await occupy(api);
    const other = await makeHome();
    try {
      const ports = await choosePorts(other, { ...auto, api }, true);
      expect(ports.api).not.toBe(api);
    } finally {
      await removeHome(other);
    }
  });

  it('are not replaced when a stranger has taken a kept one', async () => {
    const { api, temporal } = await choosePorts(home, auto, true);
    await occupy(temporal);
    await expect(choosePorts(home, auto, true)).rejects.toThrow(
      `port ${temporal}, which this stack uses for temporal, is taken`,
    );
    expect((await choosePorts(home, auto, false)).api).toBe(api);
  });

  it('follow a changed configuration', async () => {
    const { api } = await choosePorts(home, auto, true);
    const other = await makeHome();
    const { api: free } = await choosePorts(other, auto, true);
    await removeHome(other);
    expect(free).not.toBe(api);
    expect((await choosePorts(home, { ...auto, api: free }, true)).api).toBe(free);
  });
});

async function occupy(port: number): Promise<void> {
  const server = createServer();
  servers.push(server);
  await new Promise<void>((resolve) => server.listen({ port, host: '127.0.0.1' }, resolve));
}
