// The emulated Google Cloud project over plain HTTP, on one loopback port: Compute Engine, Cloud Storage, Cloud Logging, Google's
// public keys, the metadata server of the control plane's machine, and the control API.
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';

import { AwsError } from '../aws-error.ts';
import type { MachineOptions } from '../machines.ts';
import { controlPlaneToken } from './access.ts';
import { routeOf } from './api.ts';
import { obey } from './control.ts';
import { failedOperation } from './failures.ts';
import { errorBody, GcpError, serviceDisabled } from './gcp-error.ts';
import { createSigner } from './identity.ts';
import { imageRoute } from './images.ts';
import { createLogging } from './logging.ts';
import { createMachines } from './machines.ts';
import { needsOf } from './needs.ts';
import type { Need } from './needs.ts';
import { projectRoute } from './project-api.ts';
import { signedRoute } from './signed.ts';
import { storageRoute } from './storage.ts';
import type { StorageAnswer } from './storage.ts';
import { createProject } from './project.ts';
import { shownProject } from './quotas.ts';
import type { EmulatedProject } from './project.ts';
import { createTraffic } from './traffic.ts';

export interface GcpEmulatorServer {
  url: string;
  close(): Promise<void>;
}

export interface GcpEmulatorOptions {
  machines: MachineOptions | null;
  /** A file that gets every call of an API with its answer. */
  traffic?: string | null;
}

export async function serveGcp(options: GcpEmulatorOptions): Promise<GcpEmulatorServer> {
  const project = createProject();
  const signer = await createSigner(project);
  const logging = createLogging(project);
  const traffic = createTraffic(options.traffic ?? null);
  const address = { url: '' };
  const machines = createMachines(project, signer, () => address.url, options.machines);
  const server = createServer((request, response) => {
    void serve(request, response);
  });
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://gcp');
    // A request that breaks off in its body has no effect.
    const bytes = await buffer(request).catch(() => null);
    if (bytes === null) return;
    const note = (status: number, answer: object | null): void =>
      traffic({
        ...{ method: request.method ?? '', url: request.url ?? '', body: bytes.toString(), status, answer },
        contentType: request.headers['content-type'] ?? '',
      });
    try {
      const raw = bytes.toString();
      if (pathname === '/_control')
        return json(
          response,
          200,
          await obey(project, (of, audience) => signer.sign(of, audience, true), JSON.parse(raw)),
        );
      if (pathname === '/oauth2/v3/certs') return json(response, 200, signer.keys);
      if (pathname.startsWith('/computeMetadata/')) return controlPlaneMetadata(project, pathname, response);
      const method = request.method ?? '';
      const signed = signedRoute(project, { method, url: request.url ?? '', headers: request.headers, body: bytes });
      if (signed !== null) {
        const fate = project.faults.next(signed.name);
        if (fate === 'cut') return void request.socket.destroy();
        const answer = signed.run();
        if (fate === 'lose') return void request.socket.destroy();
        return send(response, answer);
      }
      const caller = project.access.callerOf(request.headers.authorization);
      if (request.headers['x-goog-user-project'] !== undefined)
        project.access.require(caller, 'serviceusage.services.use', 'project');
      const contentType = request.headers['content-type'] ?? '';
      const service = serviceOf(pathname);
      if (service !== null && project.disabled.has(service)) throw serviceDisabled(service, project.id);
      const stored = storageRoute(project, { method, pathname, query: searchParams, contentType, body: bytes, caller });
      if (stored !== null) {
        const fate = project.faults.next(stored.name);
        if (fate === 'cut') return void request.socket.destroy();
        const answer = stored.run();
        if (fate === 'lose') return void request.socket.destroy();
        note(answer.status, answer.json ?? null);
        return send(response, answer);
      }
      const body: unknown = raw === '' ? null : JSON.parse(raw);
      const prepared = projectRoute(project, { method, pathname, query: searchParams, body, caller });
      const { name, needs, run } =
        prepared !== null
          ? { ...prepared, needs: prepared.needs === null ? [] : [prepared.needs] }
          : routed(project, logging, {
              method,
              pathname,
              query: searchParams,
              body,
            });
      const fate = project.faults.next(name);
      if (fate === 'cut') return void request.socket.destroy();
      for (const { permission, resource } of needs) project.access.require(caller, permission, resource);
      const answer = await run();
      if (fate === 'lose') return void request.socket.destroy();
      note(200, answer);
      json(response, 200, answer);
    } catch (error) {
      const known = asGcp(error);
      note(known.status, errorBody(known));
      json(response, known.status, errorBody(known));
    }
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const bound = server.address();
  address.url = `http://127.0.0.1:${bound !== null && typeof bound === 'object' ? bound.port : 0}`;
  return {
    url: address.url,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await machines.stop();
    },
  };
}

function routed(
  project: EmulatedProject,
  logging: (method: string, body: unknown) => object,
  call: { method: string; pathname: string; query: URLSearchParams; body: unknown },
): { name: string; needs: Need[]; run: () => Promise<object> | object } {
  const { method, pathname, query, body } = call;
  if (pathname.startsWith('/v2/')) {
    const name = pathname.slice('/v2/'.length);
    return { name, needs: needsOf(name, body, project.id), run: () => logging(name, body) };
  }
  const [, id, path] = /^\/compute\/v1\/projects\/([^/]+)(?:\/(.+))?$/.exec(pathname) ?? [];
  if (path === undefined && id === project.id && method === 'GET')
    return { name: 'projects.get', needs: needsOf('projects.get', null, id), run: () => shownProject(project) };
  if (path === undefined) throw new GcpError(404, 'notFound', `The emulator has no ${pathname}.`);
  const image = imageRoute(project, method, `projects/${id}/${path}`);
  if (image !== null) return image;
  if (id !== project.id)
    throw new GcpError(403, 'forbidden', `Required 'compute.instances.list' permission for 'projects/${id}'`);
  const route = routeOf(project, { method, path, query, body });
  const run = () => failedOperation(project, route.name, path) ?? route.run();
  return { ...route, run, needs: needsOf(route.name, body, project.id) };
}

/** The API of a path; null for APIs that cannot be disabled here. */
function serviceOf(pathname: string): string | null {
  if (pathname.startsWith('/compute/')) return 'compute';
  if (pathname.startsWith('/v2/')) return 'logging';
  if (/^(\/upload)?\/storage\//.test(pathname)) return 'storage';
  if (pathname.endsWith(':signBlob')) return 'iamcredentials';
  if (/^\/v1\/projects\/[^/]+:/.test(pathname)) return 'cloudresourcemanager';
  return /^\/v1\/projects\/[^/]+\/(roles|serviceAccounts)/.test(pathname) ? 'iam' : null;
}

/** The control plane gets its credentials as on a machine of Google Cloud. */
function controlPlaneMetadata({ id, access }: EmulatedProject, pathname: string, response: ServerResponse): void {
  const headers = { 'metadata-flavor': 'Google', 'content-type': 'application/json' };
  const token = { access_token: controlPlaneToken, expires_in: 3_599, token_type: 'Bearer' };
  const answers: Record<string, string> = {
    'instance/service-accounts/default/token': JSON.stringify(token),
    'instance/service-accounts/default/email': access.machineEmail(),
    'project/project-id': id,
    instance: '{}',
    '': '{}',
  };
  const body = answers[pathname.replace('/computeMetadata/v1/', '').replace('/computeMetadata/v1', '')];
  response.writeHead(body === undefined ? 404 : 200, headers).end(body ?? '');
}

/** Faults are shared with the emulated EC2, and have Google's reason as their code. */
function asGcp(error: unknown): GcpError {
  if (error instanceof GcpError) return error;
  if (error instanceof AwsError) return new GcpError(error.status, error.code, error.message);
  return new GcpError(500, 'internalError', error instanceof Error ? (error.stack ?? error.message) : String(error));
}

function send(response: ServerResponse, { status, json: value, media, headers = {} }: StorageAnswer): void {
  if (value !== undefined) return json(response, status, value);
  const length = { 'content-length': media?.byteLength ?? 0 };
  response.writeHead(status, { ...headers, 'content-type': 'application/octet-stream', ...length }).end(media);
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=UTF-8' }).end(JSON.stringify(body));
}
