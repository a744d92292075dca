// The way from outside to the machines of the emulated cloud. A machine's processes listen at its private address; its public
// address differs, as in EC2, and forwards only connections that a rule of one of its security groups allows. Traffic between
// private addresses passes, as between members of one group.
import { BlockList, createServer, connect, isIP } from 'node:net';
import type { Server, Socket } from 'node:net';

/** A running machine. */
export interface FirewallHost {
  privateIp: string;
  publicIp: string | null;
  /** `tcp 8786 0.0.0.0/0` */
  rules: string[];
}

export interface Firewall {
  /** Opens and closes ports to match the current instances and rules. */
  apply(): void;
  close(): void;
}

interface OpenPort {
  server: Server;
  sockets: Set<Socket>;
}

/** `hosts`: returns every running machine with the rules that apply to it. */
export function createFirewall(hosts: () => FirewallHost[]): Firewall {
  const open = new Map<string, OpenPort>();

  const rulesOf = (privateIp: string): string[][] =>
    (hosts().find((host) => host.privateIp === privateIp)?.rules ?? []).map((rule) => rule.split(' '));

  const allows = (privateIp: string, port: number, address: string): boolean =>
    rulesOf(privateIp).some(([, open, range = '']) => Number(open) === port && isWithin(address, range));

  const listen = (privateIp: string, publicIp: string, port: number): OpenPort => {
    const sockets = new Set<Socket>();
    const server = createServer((from) => {
      // EC2 drops connections that no rule allows; a reset shows the same to a test, sooner.
      if (!allows(privateIp, port, from.remoteAddress ?? '')) return void from.resetAndDestroy();
      const to = connect(port, privateIp);
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
      for (const { privateIp, publicIp, rules } of hosts()) {
        if (publicIp === null) continue;
        for (const port of new Set(rules.map((rule) => Number(rule.split(' ')[1])))) {
          const key = `${publicIp}:${port}`;
          wanted.add(key);
          // Opening a port below 1024 requires root.
          if (!open.has(key) && port >= 1_024) open.set(key, listen(privateIp, publicIp, port));
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
