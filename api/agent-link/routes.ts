// The routes for agents, which only open outgoing connections. The launch token registers an instance; its own token authorizes everything else.
import { createRoute, z } from '@hono/zod-openapi';

import { ordersQuery, programParams } from '../../schema/agent.ts';
import { blobParams } from '../../schema/files.ts';
import { packageFileParams } from '../../schema/software.ts';
import { readPackageFileOfInstance } from '../../services/software/package-files.ts';
import { contextOf, type App } from '../routes/app.ts';
import { answerBlob, storeBlob } from '../routes/files.ts';
import { recordTaskFiles } from '../../services/files/filestores.ts';
import {
  planInstanceDownloads,
  planInstanceUploads,
  receiveInstanceFile,
  sendInstanceFile,
} from '../../services/files/of-instances.ts';
import {
  file,
  fileBody,
  fileType,
  instanceSecurity,
  json,
  jsonBody,
  launchSecurity,
  named,
  problems,
} from '../routes/schemas.ts';
import { readBundle } from '../../services/agents/bundle.ts';
import { issueCertificate } from '../../services/agents/certificate.ts';
import { exchangeWork } from '../../services/agents/exchange.ts';
import { readOrders } from '../../services/agents/orders.ts';
import { readProgram } from '../../services/agents/program.ts';
import { registerAgent } from '../../services/agents/register.ts';
import { reportAgent } from '../../services/agents/report.ts';

const common = { tags: ['agent'] };
const programText = z.string();

export const agentRoutes = {
  register: createRoute({
    ...common,
    security: launchSecurity,
    method: 'post',
    path: '/v1/agent/register',
    operationId: 'registerAgent',
    summary: 'Register an instance; a repeat with the same bootId returns a new token',
    request: { body: jsonBody(named.registerRequest) },
    responses: { 200: json(named.registerAnswer, 'The identity of the instance, and its token.'), ...problems },
  }),
  report: createRoute({
    ...common,
    security: instanceSecurity,
    method: 'post',
    path: '/v1/agent/report',
    operationId: 'reportAgent',
    summary: 'Report that an instance is alive, or is leaving',
    request: { body: jsonBody(named.reportRequest) },
    responses: {
      200: json(named.reportAnswer, 'Whether the instance must end, and a renewed token when due.'),
      ...problems,
    },
  }),
  exchange: createRoute({
    ...common,
    security: instanceSecurity,
    method: 'post',
    path: '/v1/agent/exchange',
    operationId: 'exchangeWork',
    summary: 'Exchange task results for new leases; idempotent',
    request: { body: jsonBody(named.exchangeRequest) },
    responses: {
      200: json(named.exchangeAnswer, 'New leases, leases to drop, and acknowledged results.'),
      ...problems,
    },
  }),
  bundle: createRoute({
    ...common,
    security: instanceSecurity,
    method: 'get',
    path: '/v1/agent/bundle',
    operationId: 'readBundle',
    summary: "Read the bundle of the instance's own job or cluster: command, environment, files",
    responses: { 200: json(named.bundle, "A job's Bundle, or the DaskBundle of a cluster of its own."), ...problems },
  }),
  packageFile: createRoute({
    ...common,
    security: instanceSecurity,
    method: 'get',
    path: '/v1/agent/package-files/{sha256}',
    operationId: 'readPackageFileOfInstance',
    summary: "Download a package file of the instance's own job or cluster",
    request: { params: packageFileParams },
    responses: { 200: file('The file.'), ...problems },
  }),
  fileUploads: createRoute({
    ...common,
    security: instanceSecurity,
    method: 'post',
    path: '/v1/agent/file-uploads',
    operationId: 'planFileUploadsOfInstance',
    summary: 'Get upload addresses for the output files of a task',
    request: { body: jsonBody(named.fileUploadsRequest) },
    responses: {
      200: json(named.fileUploads, 'The files that are still missing, with upload addresses.'),
      ...problems,
    },
  }),
  fileDownloads: createRoute({
    ...common,
    security: instanceSecurity,
    method: 'post',
    path: '/v1/agent/file-downloads',
    operationId: 'planFileDownloadsOfInstance',
    summary: 'Get download addresses for the input files of a job',
    request: { body: jsonBody(named.fileDownloadsRequest) },
    responses: { 200: json(named.fileDownloads, 'One address for each file.'), ...problems },
  }),
  storeFile: createRoute({
    ...common,
    security: instanceSecurity,
    method: 'put',
    path: '/v1/agent/file-blobs/{sha256}',
    operationId: 'storeFileOfInstance',
    summary: 'Upload an output file through the API, when the object store is a directory',
    request: { params: blobParams, body: fileBody },
    responses: { 204: { description: 'It is stored.' }, ...problems },
  }),
  readFile: createRoute({
    ...common,
    security: instanceSecurity,
    method: 'get',
    path: '/v1/agent/file-blobs/{sha256}',
    operationId: 'readFileOfInstance',
    summary: 'Download a file through the API, when the object store is a directory',
    request: { params: blobParams },
    responses: { 200: file('The content.'), ...problems },
  }),
  taskFiles: createRoute({
    ...common,
    security: instanceSecurity,
    method: 'post',
    path: '/v1/agent/task-files',
    operationId: 'recordTaskFiles',
    summary: 'Record the output files of one attempt of a task, after their upload',
    request: { body: jsonBody(named.taskFiles) },
    responses: {
      200: json(named.storedTaskFiles, 'The files whose content is missing; then nothing was recorded.'),
      ...problems,
    },
  }),
  orders: createRoute({
    ...common,
    security: instanceSecurity,
    method: 'get',
    path: '/v1/agent/orders',
    operationId: 'readOrders',
    summary: "Long-poll the orders of a Dask cluster's agent; the API answers when they change, or after at most 50 s",
    request: { query: ordersQuery },
    responses: { 200: json(named.orders, 'The orders, newer than those seen unless the time is up.'), ...problems },
  }),
  program: createRoute({
    ...common,
    method: 'get',
    path: '/v1/agent/program/{sha256}',
    operationId: 'readAgentProgram',
    summary: 'Download the agent program by its SHA-256; needs no token',
    request: { params: programParams },
    responses: {
      200: {
        description: 'The program, which never changes.',
        content: { 'text/javascript': { schema: programText } },
      },
      ...problems,
    },
  }),
  certificate: createRoute({
    ...common,
    security: instanceSecurity,
    method: 'post',
    path: '/v1/agent/certificate',
    operationId: 'issueCertificate',
    summary: 'Sign a certificate for an instance of a Dask cluster',
    request: { body: jsonBody(named.certificateRequest) },
    responses: { 200: json(named.certificateAnswer, "The certificate, and its authority's."), ...problems },
  }),
};

export function mountAgents(app: App): void {
  app.openapi(agentRoutes.register, async (c) =>
    c.json(await registerAgent(contextOf(c, c.var.launch), c.req.valid('json')), 200),
  );
  app.openapi(agentRoutes.report, async (c) =>
    c.json(await reportAgent(contextOf(c, c.var.instance), c.req.valid('json')), 200),
  );
  app.openapi(agentRoutes.exchange, async (c) =>
    c.json(await exchangeWork(contextOf(c, c.var.instance), c.req.valid('json')), 200),
  );
  app.openapi(agentRoutes.packageFile, async (c) => {
    const content = await readPackageFileOfInstance(contextOf(c, c.var.instance), c.req.valid('param'));
    return c.body(content, 200, { 'Content-Type': fileType, 'Cache-Control': 'no-store' });
  });
  app.openapi(agentRoutes.fileUploads, async (c) => {
    return c.json(await planInstanceUploads(contextOf(c, c.var.instance), c.req.valid('json').files), 200);
  });
  app.openapi(agentRoutes.fileDownloads, async (c) => {
    return c.json(await planInstanceDownloads(contextOf(c, c.var.instance), c.req.valid('json').sha256s), 200);
  });
  app.openapi(agentRoutes.taskFiles, async (c) =>
    c.json(await recordTaskFiles(contextOf(c, c.var.instance), c.req.valid('json')), 200),
  );
  app.put(agentRoutes.storeFile.getRoutingPath(), async (c) =>
    storeBlob(c, (sent) => receiveInstanceFile(contextOf(c, c.var.instance), sent)),
  );
  app.get(agentRoutes.readFile.getRoutingPath(), async (c) =>
    answerBlob(c, (sha256) => sendInstanceFile(contextOf(c, c.var.instance), sha256)),
  );
  app.openapi(agentRoutes.orders, async (c) => {
    const input = { ...c.req.valid('query'), signal: c.req.raw.signal };
    return c.json(await readOrders(contextOf(c, c.var.instance), input), 200);
  });
  app.openapi(agentRoutes.certificate, async (c) =>
    c.json(await issueCertificate(contextOf(c, c.var.instance), c.req.valid('json')), 200),
  );
  app.openapi(agentRoutes.program, async (c) => {
    const bytes = await readProgram(c.var.deps.programs, c.req.valid('param').sha256);
    const headers = { 'Content-Type': 'text/javascript', 'Cache-Control': 'public, max-age=31536000, immutable' };
    return c.body(Uint8Array.from(bytes), 200, headers);
  });
  // The response is the sealed bytes, so this is no openapi() handler, whose type requires the parsed object.
  app.get(agentRoutes.bundle.getRoutingPath(), async (c) => {
    const bytes = await readBundle(contextOf(c, c.var.instance));
    return c.body(bytes, 200, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
  });
}
