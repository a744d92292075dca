// The way from outside to the machines of the emulated cloud. A machine's processes listen at its private address; its public
// one is another, as in EC2, and forwards only what a rule of one of its security groups allows. Traffic between private
// addresses passes, as between members of one group.
import { BlockList, createServer, connect, isIP } from 'node:net';
import type { Server, Socket } from 'node:net';

import type { Instance } from './state.ts';
import { fixedRules, stateAt } from './state.ts';
import type { World } from './world.ts';

export interface Firewall {
  /** Opens and closes ports as instances and rules are now. */
  apply(): void;
  close(): void;
}

interface OpenPort {
  server: Server;
  sockets: Set<Socket>;
}

export function createFirewall(world: World): Firewall {
  const open = new Map<string, OpenPort>();

  /** `tcp 8786 0.0.0.0/0` of each group that the instance has now. */
  const rulesOf = (instance: Instance): string[][] => {
    const groups = world.regions().find((region) => region.instances.has(instance.id))?.groups;
    const rules = instance.data.securityGroups.flatMap((id) => fixedRules[id] ?? groups?.get(id)?.rules ?? []);
    return rules.map((rule) => rule.split(' '));
  };

  const allows = (instance: Instance, port: number, address: string): boolean =>
    rulesOf(instance).some(([, open, range = '']) => Number(open) === port && isWithin(address, range));

  const listen = (instance: Instance, publicIp: string, port: number): OpenPort => {
    const sockets = new Set<Socket>();
    const server = createServer((from) => {
      // EC2 drops what no rule allows; a reset shows the same to a test, sooner.
      if (!allows(instance, port, from.remoteAddress ?? '')) return void from.resetAndDestroy();
      const to = connect(port, instance.privateIp);
      for (const [one, other] of [
        [from, to],
        [to, from],
      ] as const) {
        sockets.add(one);
        one.on('error', () => other.destroy());
        one.on('close', () => sockets.delete(one) && other.destroy());
        one.pipe(other);
      }
    });
    server.on('error', () => undefined);
    server.listen(port, publicIp);
    return { server, sockets };
  };

  const shut = (key: string, { server, sockets }: OpenPort): void => {
    open.delete(key);
    server.close();
    for (const socket of sockets) socket.destroy();
  };

  return {
    apply() {
      const wanted = new Set<string>();
      const nowMs = world.clock.nowMs();
      for (const instance of world.regions().flatMap(({ instances }) => [...instances.values()])) {
        const { publicIp } = instance;
        if (publicIp === null || stateAt(instance, nowMs) !== 'running') continue;
        for (const port of new Set(rulesOf(instance).map(([, number]) => Number(number)))) {
          const key = `${publicIp}:${port}`;
          wanted.add(key);
          // Low ports are not ours to open.
          if (!open.has(key) && port >= 1_024) open.set(key, listen(instance, publicIp, port));
        }
      }
      for (const [key, port] of open) if (!wanted.has(key)) shut(key, port);
    },
    close() {
      for (const [key, port] of open) shut(key, port);
    },
  };
}

function isWithin(address: string, range: string): boolean {
  const [net = '', prefix] = range.split('/');
  const family = isIP(net) === 6 ? 'ipv6' : 'ipv4';
  if (isIP(address) !== isIP(net)) return false;
  const list = new BlockList();
  list.addSubnet(net, Number(prefix), family);
  return list.check(address, family);
}
