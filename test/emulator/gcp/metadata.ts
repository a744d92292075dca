// The metadata server of one instance: `/computeMetadata/v1/...`. Each instance has its own server on its own port, which
// GCE_METADATA_HOST names.
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Signer } from './identity.ts';
import { statusAt } from './state.ts';
import type { Instance } from './state.ts';
import type { EmulatedProject } from './project.ts';

export interface MetadataServer {
  /** `127.0.0.1:PORT` */
  host: string;
  close(): void;
}

export async function serveMetadata(
  project: EmulatedProject,
  signer: Signer,
  instance: Instance,
): Promise<MetadataServer> {
  const server = createServer((request, response) => {
    void answer(project, signer, instance, request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The metadata server has no port.');
  return {
    host: `127.0.0.1:${address.port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function answer(
  project: EmulatedProject,
  signer: Signer,
  instance: Instance,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const reply = (status: number, body: string): void =>
    void response.writeHead(status, { 'metadata-flavor': 'Google', 'content-type': 'application/text' }).end(body);
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://metadata');
  // Protects against requests that a browser or a proxy can be made to send.
  if (request.headers['metadata-flavor'] !== 'Google' || request.headers['x-forwarded-for'] !== undefined)
    return reply(403, '');
  if (statusAt(instance, project.clock.nowMs()) === null) return reply(503, '');
  const path = pathname.replace('/computeMetadata/v1/', '');
  if (path === 'instance/preempted' && searchParams.get('wait_for_change') === 'true') {
    const timeoutMs = Number(searchParams.get('timeout_sec') ?? 3_600) * 1_000;
    const untilMs = Date.now() + timeoutMs;
    const lastEtag = searchParams.get('last_etag');
    while (!isPreempted(project, instance) && Date.now() < untilMs && !response.destroyed && lastEtag !== '0')
      await new Promise((resolve) => setTimeout(resolve, 50));
    return reply(200, isPreempted(project, instance) ? 'TRUE' : 'FALSE');
  }
  const value = await read(project, signer, instance, path, searchParams);
  return value === null ? reply(404, '') : reply(200, value);
}

const isPreempted = (project: EmulatedProject, { preemption }: Instance): boolean =>
  preemption !== null && project.clock.nowMs() >= preemption.noticeAtMs;

async function read(
  project: EmulatedProject,
  signer: Signer,
  instance: Instance,
  path: string,
  query: URLSearchParams,
): Promise<string | null> {
  const attribute = /^instance\/attributes\/(.+)$/.exec(path)?.[1];
  if (attribute !== undefined) return instance.metadata[attribute] ?? null;
  switch (path) {
    case 'instance/name':
      return instance.name;
    case 'instance/id':
      return instance.numericId;
    case 'instance/zone':
      return `projects/123456789012/zones/${instance.zone}`;
    case 'project/project-id':
      return project.id;
    case 'instance/network-interfaces/0/ip':
      return instance.privateIp;
    case 'instance/network-interfaces/0/access-configs/0/external-ip':
      return instance.publicIp === null ? null : instance.publicIp;
    case 'instance/preempted':
      return isPreempted(project, instance) ? 'TRUE' : 'FALSE';
    case 'instance/service-accounts/default/identity': {
      const audience = query.get('audience');
      if (audience === null || instance.serviceAccount === null) return null;
      return signer.sign(instance, audience, query.get('format') === 'full');
    }
    case 'instance/service-accounts/default/token':
      if (instance.serviceAccount === null) return null;
      return JSON.stringify({ access_token: `emulated-${instance.name}`, expires_in: 3_599, token_type: 'Bearer' });
    default:
      return null;
  }
}
