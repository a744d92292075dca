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
    summary: 'An instance of a launch becomes known; repeating it with the same bootId gives a new token',
    request: { body: jsonBody(named.registerRequest) },
    responses: { 200: json(named.registerAnswer, 'Who the instance is, and its token.'), ...problems },
  }),
  report: createRoute({
    ...common,
    security: instanceSecurity,
    method: 'post',
    path: '/v1/agent/report',
    operationId: 'reportAgent',
    summary: 'An instance lives, or leaves',
    request: { body: jsonBody(named.reportRequest) },
    responses: { 200: json(named.reportAnswer, 'Whether to end, and a renewed token when it is time.'), ...problems },
  }),
  exchange: createRoute({
    ...common,
    security: instanceSecurity,
    method: 'post',
    path: '/v1/agent/exchange',
    operationId: 'exchangeWork',
    summary: 'Results for leases; safe to repeat',
    request: { body: jsonBody(named.exchangeRequest) },
    responses: { 200: json(named.exchangeAnswer, 'What to run, to drop and to forget.'), ...problems },
  }),
  bundle: createRoute({
    ...common,
    security: instanceSecurity,
    method: 'get',
    path: '/v1/agent/bundle',
    operationId: 'readBundle',
    summary: "What the job's tasks, or the cluster's Dask processes, run",
    responses: { 200: json(named.bundle, "A job's Bundle, or the DaskBundle of a cluster of its own."), ...problems },
  }),
  packageFile: createRoute({
    ...common,
    security: instanceSecurity,
    method: 'get',
    path: '/v1/agent/package-files/{sha256}',
    operationId: 'readPackageFileOfInstance',
    summary: "A package file that the instance's own job or cluster names",
    request: { params: packageFileParams },
    responses: { 200: file('The file.'), ...problems },
  }),
  fileUploads: createRoute({
    ...common,
    security: instanceSecurity,
    method: 'post',
    path: '/v1/agent/file-uploads',
    operationId: 'planFileUploadsOfInstance',
    summary: 'Where to send the content of files that a task left behind',
    request: { body: jsonBody(named.fileUploadsRequest) },
    responses: { 200: json(named.fileUploads, 'What is still to be sent.'), ...problems },
  }),
  fileDownloads: createRoute({
    ...common,
    security: instanceSecurity,
    method: 'post',
    path: '/v1/agent/file-downloads',
    operationId: 'planFileDownloadsOfInstance',
    summary: "Where to read the content of a job's input files",
    request: { body: jsonBody(named.fileDownloadsRequest) },
    responses: { 200: json(named.fileDownloads, 'A place for each.'), ...problems },
  }),
  storeFile: createRoute({
    ...common,
    security: instanceSecurity,
    method: 'put',
    path: '/v1/agent/file-blobs/{sha256}',
    operationId: 'storeFileOfInstance',
    summary: 'Send the content of a file, where the object store is a directory',
    request: { params: blobParams, body: fileBody },
    responses: { 204: { description: 'It is stored.' }, ...problems },
  }),
  readFile: createRoute({
    ...common,
    security: instanceSecurity,
    method: 'get',
    path: '/v1/agent/file-blobs/{sha256}',
    operationId: 'readFileOfInstance',
    summary: 'The content of a file, where the object store is a directory',
    request: { params: blobParams },
    responses: { 200: file('The content.'), ...problems },
  }),
  taskFiles: createRoute({
    ...common,
    security: instanceSecurity,
    method: 'post',
    path: '/v1/agent/task-files',
    operationId: 'recordTaskFiles',
    summary: 'All files of an attempt of a task, once their content is stored',
    request: { body: jsonBody(named.taskFiles) },
    responses: { 200: json(named.storedTaskFiles, 'Content that is missing; nothing was recorded then.'), ...problems },
  }),
  orders: createRoute({
    ...common,
    security: instanceSecurity,
    method: 'get',
    path: '/v1/agent/orders',
    operationId: 'readOrders',
    summary: 'The orders of an agent of a Dask cluster; the API answers when they change, or after 50 s at most',
    request: { query: ordersQuery },
    responses: { 200: json(named.orders, 'The orders, newer than those seen unless the time is up.'), ...problems },
  }),
  program: createRoute({
    ...common,
    method: 'get',
    path: '/v1/agent/program/{sha256}',
    operationId: 'readAgentProgram',
    summary: 'The agent itself, by its SHA-256; no token is needed',
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
    summary: 'A certificate for the key of an instance of a Dask cluster',
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
    return c.body(Uint8Array.from(content), 200, { 'Content-Type': fileType, 'Cache-Control': 'no-store' });
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
    return c.body(Uint8Array.from(bytes), 200, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
  });
}
