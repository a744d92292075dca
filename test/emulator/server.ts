// The emulated cloud over plain HTTP, on one loopback port: EC2, STS, IAM, SSM, CloudWatch Logs, Service Quotas, the metadata
// services and the control API. Requests are dispatched by the service that their signature names, as endpoints of a real cloud
// are.
import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
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
import { requireSignature } from './signature.ts';
import { callSsm } from './ssm.ts';
import { callSts, sessionKey } from './sts.ts';
import { createAccount } from './account.ts';
import type { EmulatedAccount } from './account.ts';
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
  /** A file that gets every call of an API, a line each. */
  traffic?: string | null;
}

export async function serveEmulator(options: EmulatorOptions): Promise<EmulatorServer> {
  const account = createAccount(options.ledgerPath);
  const signer = createSigner();
  const address = { url: '' };
  const machines = createMachines(account, () => address.url, options.machines);
  const server = createServer((request, response) => {
    if (request.url?.startsWith('/imds/')) return serveImds(account, signer, request, response);
    if (request.url === '/_control') {
      control(request, (order) => obey(account, signer, machines, order)).then(
        (answer) => json(response, 200, answer),
        (error: unknown) => json(response, 400, { message: String(error) }),
      );
      return;
    }
    void serveApi(account, request, response, options.traffic ?? null);
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

async function serveApi(
  main: EmulatedAccount,
  request: IncomingMessage,
  response: ServerResponse,
  traffic: string | null,
): Promise<void> {
  const requestId = randomUUID();
  const body = await text(request);
  const { service, region: regionName, accessKeyId } = scopeOf(request);
  const target = String(request.headers['x-amz-target'] ?? '');
  const params = readParams(body);
  const action = target === '' ? (params.text('Action') ?? '') : (target.split('.').at(-1) ?? '');
  if (traffic !== null) appendFileSync(traffic, `${JSON.stringify({ service, action, body })}\n`);
  try {
    requireSignature(request, body);
    const account = accountOf(main, accessKeyId);
    const fate = main.faults.next(action);
    if (fate === 'cut') return void request.socket.destroy();
    const region = account.region(regionName);
    authorize(accessKeyId, { account, region, service, action, params, body });
    const answer = await perform(account, service, region, action, params, body, requestId);
    if (fate === 'lose') return void request.socket.destroy();
    response.writeHead(200, { 'content-type': answer.type, 'x-amzn-requestid': requestId }).end(answer.text);
  } catch (error) {
    refuse(response, service, error, requestId);
  }
}

async function perform(
  account: EmulatedAccount,
  service: string,
  region: ReturnType<EmulatedAccount['region']>,
  action: string,
  params: ReturnType<typeof readParams>,
  body: string,
  requestId: string,
): Promise<{ type: string; text: string }> {
  const nowMs = account.clock.nowMs();
  switch (service) {
    case 'ec2':
      return { type: xmlType, text: callEc2(account, region, params, requestId) };
    case 'sts':
      return { type: xmlType, text: callSts(account, params, requestId) };
    case 'iam':
      return { type: xmlType, text: callIam(account, params, requestId) };
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

/** The account of an access key: another account's for its session key, else the main one. */
const accountOf = (main: EmulatedAccount, accessKeyId: string): EmulatedAccount =>
  [...main.trusts.values()].find(({ account }) => sessionKey(account.accountId) === accessKeyId)?.account ?? main;

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
