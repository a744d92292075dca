// The emulated cloud over plain HTTP, on one loopback port: EC2, STS, IAM, SSM, CloudWatch Logs, Service Quotas, the metadata services and the
// control API. Requests are dispatched by the service that their signature names, as endpoints of a real cloud are.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

import { authorize } from './authorize.ts';
import { AwsError } from './aws-error.ts';
import { obey } from './control.ts';
import { callEc2 } from './ec2/ec2.ts';
import { createSigner } from './identity.ts';
import { serveImds } from './imds.ts';
import { callIam } from './iam.ts';
import { callLogs } from './logs.ts';
import { createMachines } from './machines.ts';
import type { MachineOptions } from './machines.ts';
import { readParams } from './params.ts';
import { callServiceQuotas } from './service-quotas.ts';
import { callSsm } from './ssm.ts';
import { callSts, sessionKey } from './sts.ts';
import { createWorld } from './world.ts';
import type { World } from './world.ts';
import { ec2Error, stsError } from './xml.ts';

export interface EmulatorServer {
  url: string;
  close(): Promise<void>;
}

export interface EmulatorOptions {
  ledgerPath: string | null;
  /** null: instances are records only. */
  machines: MachineOptions | null;
  port?: number;
}

export async function serveEmulator(options: EmulatorOptions): Promise<EmulatorServer> {
  const world = createWorld(options.ledgerPath);
  const signer = createSigner();
  const address = { url: '' };
  const machines = createMachines(world, () => address.url, options.machines);
  const server = createServer((request, response) => {
    if (request.url?.startsWith('/imds/')) return serveImds(world, signer, request, response);
    if (request.url === '/_control') {
      control(request, (order) => obey(world, signer, machines, order)).then(
        (answer) => json(response, 200, answer),
        (error: unknown) => json(response, 400, { message: String(error) }),
      );
      return;
    }
    void serveApi(world, request, response);
  });
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  address.url = `http://127.0.0.1:${portOf(server.address())}`;
  return {
    url: address.url,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await machines.stop();
    },
  };
}

async function control(request: IncomingMessage, carryOut: (order: unknown) => Promise<unknown>): Promise<unknown> {
  return carryOut(JSON.parse(await text(request)));
}

async function serveApi(main: World, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const requestId = randomUUID();
  const body = await text(request);
  const { service, region: regionName, accessKeyId } = scopeOf(request);
  const target = String(request.headers['x-amz-target'] ?? '');
  const params = readParams(body);
  const action = target === '' ? (params.text('Action') ?? '') : (target.split('.').at(-1) ?? '');
  try {
    const world = accountOf(main, accessKeyId);
    const fate = main.faults.next(action);
    if (fate === 'cut') return void request.socket.destroy();
    const region = world.region(regionName);
    authorize(accessKeyId, { world, region, service, action, params, body });
    const answer = await perform(world, service, region, action, params, body, requestId);
    if (fate === 'lose') return void request.socket.destroy();
    response.writeHead(200, { 'content-type': answer.type, 'x-amzn-requestid': requestId }).end(answer.text);
  } catch (error) {
    refuse(response, service, error, requestId);
  }
}

async function perform(
  world: World,
  service: string,
  region: ReturnType<World['region']>,
  action: string,
  params: ReturnType<typeof readParams>,
  body: string,
  requestId: string,
): Promise<{ type: string; text: string }> {
  const nowMs = world.clock.nowMs();
  switch (service) {
    case 'ec2':
      return { type: xmlType, text: callEc2(world, region, params, requestId) };
    case 'sts':
      return { type: xmlType, text: callSts(world, params, requestId) };
    case 'iam':
      return { type: xmlType, text: callIam(world, params, requestId) };
    case 'servicequotas':
      return { type: jsonType, text: JSON.stringify(callServiceQuotas(region, action, JSON.parse(body))) };
    case 'ssm':
      return { type: jsonType, text: JSON.stringify(callSsm(region, action, JSON.parse(body))) };
    case 'logs':
      return { type: jsonType, text: JSON.stringify(callLogs(region, action, JSON.parse(body), nowMs)) };
    default:
      throw new AwsError('UnknownService', `The emulator has no service "${service}".`, 404);
  }
}

/** By the access key: that of a session in another account, or any other. */
const accountOf = (main: World, accessKeyId: string): World =>
  [...main.trusts.values()].find(({ world }) => sessionKey(world.accountId) === accessKeyId)?.world ?? main;

/** `Credential=KEY/20260101/us-east-1/ec2/aws4_request` */
function scopeOf(request: IncomingMessage): { service: string; region: string; accessKeyId: string } {
  const [, accessKeyId = '', region, service] =
    /Credential=([^/]*)\/\d{8}\/([^/]+)\/([^/]+)\/aws4_request/.exec(request.headers.authorization ?? '') ?? [];
  if (region === undefined || service === undefined) return { service: 'unsigned', region: 'us-east-1', accessKeyId };
  return { service, region, accessKeyId };
}

function refuse(response: ServerResponse, service: string, error: unknown, requestId: string): void {
  const known = error instanceof AwsError ? error : new AwsError('InternalFailure', String(error), 500);
  const { code, message, status } = known;
  if (service === 'ec2' || service === 'sts' || service === 'iam') {
    const body = service === 'ec2' ? ec2Error(code, message, requestId) : stsError(code, message, requestId);
    response.writeHead(status, { 'content-type': xmlType, 'x-amzn-requestid': requestId }).end(body);
    return;
  }
  response.setHeader('x-amzn-requestid', requestId);
  json(response, status, { __type: code, message });
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': jsonType }).end(JSON.stringify(body));
}

const portOf = (address: AddressInfo | string | null): number =>
  address !== null && typeof address === 'object' ? address.port : 0;

const xmlType = 'text/xml;charset=UTF-8';
const jsonType = 'application/x-amz-json-1.1';
