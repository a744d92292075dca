// The metadata service of each instance, version 2 only: `/imds/{instance}/latest/...`. Each agent gets its own address of it
// instead of 169.254.169.254.
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Signer } from './identity.ts';
import type { Instance } from './state.ts';
import { stateAt } from './state.ts';
import type { EmulatedAccount } from './account.ts';

const sessions = new Map<string, { instance: string; untilMs: number }>();

export function serveImds(
  account: EmulatedAccount,
  signer: Signer,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const [, , id = '', ...rest] = (request.url ?? '').split('?')[0]?.split('/') ?? [];
  const path = rest.join('/');
  const instance = account.find(id);
  if (instance === null || stateAt(instance, account.clock.nowMs()) === 'terminated') return reply(response, 404, '');
  if (request.method === 'PUT' && path === 'latest/api/token') return giveToken(account, instance, request, response);
  const session = sessions.get(String(request.headers['x-aws-ec2-metadata-token'] ?? ''));
  if (session?.instance !== id || session.untilMs < account.clock.nowMs()) return reply(response, 401, '');
  const value = read(account, signer, instance, path);
  return value === null ? reply(response, 404, '') : reply(response, 200, value);
}

function giveToken(
  account: EmulatedAccount,
  instance: Instance,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const seconds = Number(request.headers['x-aws-ec2-metadata-token-ttl-seconds']);
  if (!(seconds >= 1 && seconds <= 21_600)) return reply(response, 400, '');
  const token = randomBytes(32).toString('base64url');
  sessions.set(token, { instance: instance.id, untilMs: account.clock.nowMs() + seconds * 1000 });
  return reply(response, 200, token);
}

function read(account: EmulatedAccount, signer: Signer, instance: Instance, path: string): string | null {
  const nowMs = account.clock.nowMs();
  const region = account.regions().find((each) => each.instances.has(instance.id))?.name ?? '';
  const document = (): string => signer.document(instance, region, account.accountId);
  switch (path) {
    case 'latest/user-data':
      return instance.data.userData === '' ? null : Buffer.from(instance.data.userData, 'base64').toString();
    case 'latest/dynamic/instance-identity/document':
      return document();
    case 'latest/dynamic/instance-identity/signature':
      return signer.sign(document());
    case 'latest/meta-data/instance-id':
      return instance.id;
    case 'latest/meta-data/instance-type':
      return instance.type;
    case 'latest/meta-data/instance-life-cycle':
      return instance.market;
    case 'latest/meta-data/local-ipv4':
      return instance.privateIp;
    case 'latest/meta-data/public-ipv4':
      return instance.publicIp;
    case 'latest/meta-data/public-hostname':
      return instance.publicIp === null ? null : publicName(instance.publicIp);
    case 'latest/meta-data/placement/availability-zone':
      return instance.zone;
    case 'latest/meta-data/placement/region':
      return region;
    case 'latest/meta-data/spot/instance-action': {
      const { interruption } = instance;
      if (interruption === null || nowMs < interruption.noticeAtMs) return null;
      return JSON.stringify({ action: 'terminate', time: rfc3339(interruption.atMs) });
    }
    case 'latest/meta-data/events/recommendations/rebalance':
      if (instance.rebalanceAtMs === null || nowMs < instance.rebalanceAtMs) return null;
      return JSON.stringify({ noticeTime: rfc3339(instance.rebalanceAtMs) });
    case 'latest/meta-data/iam/security-credentials/':
      return instance.data.profile;
    default:
      if (
        instance.data.profile === null ||
        path !== `latest/meta-data/iam/security-credentials/${instance.data.profile}`
      )
        return null;
      return JSON.stringify({
        Code: 'Success',
        Type: 'AWS-HMAC',
        AccessKeyId: `ASIA${instance.id.slice(2).toUpperCase()}`,
        SecretAccessKey: 'emulated',
        Token: 'emulated',
        LastUpdated: rfc3339(nowMs),
        Expiration: rfc3339(nowMs + 6 * 3_600_000),
      });
  }
}

const publicName = (ip: string): string => `ec2-${ip.replaceAll('.', '-')}.compute-1.amazonaws.com`;

/** Without fractions, as the metadata service writes times. */
const rfc3339 = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

function reply(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'content-type': 'text/plain' }).end(body);
}
