// A relay from end to end on this machine: a stand-in for Dask, an agent's relay, an API server, and a minimal browser.
import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { pino } from 'pino';
import { WebSocket } from 'ws';

import { createRelay } from '../../agent/relay/relay.ts';
import { createDashboardRelay, type Relay, type RelayPorts } from '../../api/relay/relay.ts';
import { createDashboardServer, dashboardHosts } from '../../api/relay/serve.ts';
import { createTokens } from '../../platform/tokens.ts';
import type { ClusterView, InstanceView } from '../../contracts/cluster.ts';
import { testKeys } from '../platform/support.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';

export const cluster = 7;
export const head = { workspace: 'default', cluster, job: null, instance: 'i_head0000' };
export const instance = (id: string, role: 'head' | 'worker', generation = 1): InstanceView => ({
  id,
  role,
  state: 'ready',
  slot: role === 'head' ? 0 : 1,
  generation,
  ...{ address: '127.0.0.1', publicAddress: null, hostname: null },
  ...{ type: 'local', market: 'on-demand' as const },
  launchedAtMs: 0,
  registeredAtMs: 0,
  reason: null,
  process: null,
  stages: [],
});

export async function createBench(more: Partial<RelayPorts> = {}) {
  const clock = { offsetMs: 0 };
  const now = (): number => Date.now() + clock.offsetMs;
  const tokens = createTokens(testKeys(), now);
  const view = { instances: [instance(head.instance, 'head'), instance('i_worker00', 'worker')], endedAtMs: null };
  const views = { clusterOfAgent: () => Promise.resolve(viewWith(view)) };
  const logged: string[] = [];
  const logger = pino({ level: 'trace' }, { write: (line) => void logged.push(line) });
  const endings: (() => unknown)[] = [];
  /** Agents connect at one port, browsers at the other. */
  const state = { port: 0, agentPort: 0, dashboardUrl: '', isGood: true };

  /** At its earlier port if it had one: a restart. */
  const startApi = async (): Promise<{ relay: Relay; end: () => Promise<void> }> => {
    const stopping = new AbortController();
    if (state.port === 0) [state.port, state.agentPort] = [await freePort(), await freePort()];
    state.dashboardUrl = more.dashboardUrl ?? `http://127.0.0.1:${state.port}`;
    const { dashboardUrl } = state;
    const relay = createDashboardRelay({
      tokens,
      views,
      isGood: () => Promise.resolve(state.isGood),
      jupyterToken: () => Promise.resolve(null),
      dashboardUrl,
      apiUrl: 'https://api.example.org',
      logger,
      now,
      stopping: stopping.signal,
      ...more,
    });
    const api = createServer((_request, response) => void response.writeHead(404).end('the application'));
    api.on('upgrade', relay.upgradeAgent).listen(state.agentPort, '127.0.0.1');
    const dashboards = createDashboardServer(relay, dashboardHosts(dashboardUrl, []), {});
    dashboards.listen(state.port, '127.0.0.1');
    const servers = [api, dashboards];
    await Promise.all(servers.map((one) => (one.listening ? Promise.resolve([]) : once(one, 'listening'))));
    const end = async (): Promise<void> => {
      stopping.abort();
      const closed = servers.map((one) => new Promise((resolve) => one.close(resolve)));
      for (const one of servers) one.closeAllConnections();
      await Promise.all(closed);
    };
    endings.push(end);
    return { relay, end };
  };

  const startAgent = async (target: Server | null, options: Partial<Parameters<typeof createRelay>[0]> = {}) => {
    const { instanceToken } = await tokens.mintInstance(head);
    const stop = new AbortController();
    const troubles: string[] = [];
    const port = target === null ? 0 : portOf(target);
    const running = createRelay({
      apiUrl: `http://127.0.0.1:${state.agentPort}`,
      cluster,
      token: () => instanceToken,
      target: () => (target === null ? null : { host: '127.0.0.1', port }),
      signal: stop.signal,
      onTrouble: (text) => void troubles.push(text),
      maxRetryMs: 200,
      ...options,
    });
    const end = async (): Promise<void> => {
      stop.abort();
      await running;
    };
    endings.push(end);
    return { troubles, end };
  };

  const cookie = async (
    claims = { workspace: 'default', cluster, user: 'ada', tokenId: 'tok000000001' },
  ): Promise<string> => `ropewalk_dashboard=${(await tokens.mintDashboardSession(claims)).token}`;
  const get = async (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<IncomingMessage> => {
    const sent = request({ host: '127.0.0.1', port: state.port, path, method, headers, agent: false });
    sent.end();
    const [answer]: IncomingMessage[] = await once(sent, 'response');
    if (answer === undefined) throw new Error('no answer');
    return answer;
  };
  const page = async (path: string, headers?: Record<string, string>, method?: string) => {
    const answer = await get(path, headers, method);
    return { status: answer.statusCode, headers: answer.headers, body: (await bodyOf(answer)).toString() };
  };

  return {
    ...{ clock, tokens, view, logged, state, startApi, startAgent, cookie, get, page },
    viewNow: () => viewWith(view),
    /** A dashboard's page, as a user with access sees it. */
    see: async (rest: string, headers: Record<string, string> = {}) =>
      page(`/clusters/${cluster}/dashboard${rest}`, { cookie: await cookie(), ...headers }),
    socket: async (rest: string, headers: Record<string, string> = {}) => {
      const url = `ws://127.0.0.1:${state.port}/clusters/${cluster}/dashboard${rest}`;
      const all = { cookie: await cookie(), origin: state.dashboardUrl, ...headers };
      return new WebSocket(url, ['bokeh', 'a-session'], { headers: all });
    },
    connected: (relay: Relay) =>
      eventually(() => {
        const stream = relay.hub.open(cluster);
        if (typeof stream === 'string') return false;
        stream.destroy();
        return true;
      }),
    startTarget: async (listener: RequestListener): Promise<Server> => {
      const server = createServer(listener).listen(0, '127.0.0.1');
      await once(server, 'listening');
      endings.push(() => {
        server.closeAllConnections();
        server.close();
      });
      return server;
    },
    end: async (): Promise<void> => {
      for (const end of endings.splice(0).toReversed()) await end();
    },
  };
}

export type Bench = Awaited<ReturnType<typeof createBench>>;

/** Everything connected: a target that answers with `listener`. */
export async function connect(listener: RequestListener, more: Partial<RelayPorts> = {}) {
  const bench = await createBench(more);
  const target = await bench.startTarget(listener);
  const api = await bench.startApi();
  const agent = await bench.startAgent(target);
  await bench.connected(api.relay);
  return { bench, ...api, target, agent };
}

export const portOf = (server: Server): number => addressOf(server).port;

/** A server that listens on a port has an address of this kind. */
const addressOf = (server: Server): AddressInfo => server.address() as AddressInfo;

export async function bodyOf(answer: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

/** The status with which an upgrade was refused. */
export async function refusedWith(socket: WebSocket): Promise<number | undefined> {
  socket.on('error', () => undefined);
  const [, answer]: [unknown, IncomingMessage] = (await once(socket, 'unexpected-response')) as [
    unknown,
    IncomingMessage,
  ];
  answer.destroy();
  return answer.statusCode;
}

function viewWith(part: Pick<ClusterView, 'instances' | 'endedAtMs'>): ClusterView {
  return {
    ...part,
    number: cluster,
    workspace: 'default',
    name: 'c',
    job: null,
    user: 'ada',
    status: 'ready',
    reason: null,
    target: 2,
    provider: 'local',
    failures: [],
    events: [],
    createdAtMs: 0,
    readyAtMs: 0,
    launched: 2,
    terminated: 0,
    region: null,
    waiting: null,
    dask: null,
  };
}
