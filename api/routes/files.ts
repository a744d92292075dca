// Files of jobs: lists and transfers. Bytes pass through the API only where the object store is a directory, and are never held in memory as a whole.
import type { Readable } from 'node:stream';

import { createRoute } from '@hono/zod-openapi';
import type { Context } from 'hono';

import { numberParam } from '../../schema/common.ts';
import { blobParams, filesQuery, filestoreParams } from '../../schema/files.ts';
import { addToFilestore, listFilestore, listJobFiles } from '../../services/files/filestores.ts';
import { planUserDownloads, planUserUploads, receiveUserFile, sendUserFile } from '../../services/files/of-users.ts';
import type { SentFile } from '../../services/files/transfers.ts';
import { bodyBytes } from '../middleware/body-bytes.ts';
import { validationProblem } from '../middleware/errors.ts';
import { contextOf, type App, type AppEnv } from './app.ts';
import { file, fileBody, fileType, json, jsonBody, named, problems, tokenSecurity } from './schemas.ts';

const common = { tags: ['files'], security: tokenSecurity };

export const fileRoutes = {
  uploads: createRoute({
    ...common,
    method: 'post',
    path: '/v1/file-uploads',
    operationId: 'planFileUploads',
    summary: 'Get upload addresses for files that are not stored yet',
    request: { body: jsonBody(named.fileUploadsRequest) },
    responses: {
      200: json(named.fileUploads, 'The files that are still missing, with upload addresses.'),
      ...problems,
    },
  }),
  downloads: createRoute({
    ...common,
    method: 'post',
    path: '/v1/file-downloads',
    operationId: 'planFileDownloads',
    summary: 'Get download addresses for files',
    request: { body: jsonBody(named.fileDownloadsRequest) },
    responses: { 200: json(named.fileDownloads, 'One address for each file.'), ...problems },
  }),
  put: createRoute({
    ...common,
    method: 'put',
    path: '/v1/file-blobs/{sha256}',
    operationId: 'storeFile',
    summary: 'Upload a file of at most 1 GiB through the API, when the object store is a directory; idempotent',
    request: { params: blobParams, body: fileBody },
    responses: { 204: { description: 'It is stored.' }, ...problems },
  }),
  get: createRoute({
    ...common,
    method: 'get',
    path: '/v1/file-blobs/{sha256}',
    operationId: 'readFile',
    summary: 'Download a file through the API, when the object store is a directory',
    request: { params: blobParams },
    responses: { 200: file('The content.'), ...problems },
  }),
  ofJob: createRoute({
    ...common,
    method: 'get',
    path: '/v1/jobs/{number}/files',
    operationId: 'listJobFiles',
    summary: 'List the output files of a job; pages vary in length',
    request: { params: numberParam, query: filesQuery },
    responses: { 200: json(named.filePage, 'A page of files.'), ...problems },
  }),
  ofFilestore: createRoute({
    ...common,
    method: 'get',
    path: '/v1/filestores/{name}/files',
    operationId: 'listFilestore',
    summary: 'List the files of a named filestore, in the order of their arrival',
    request: { params: filestoreParams, query: filesQuery },
    responses: { 200: json(named.filePage, 'A page of files.'), ...problems },
  }),
  add: createRoute({
    ...common,
    method: 'post',
    path: '/v1/filestores/{name}/files',
    operationId: 'addToFilestore',
    summary: 'Add uploaded files to a named filestore; the first file creates it',
    request: { params: filestoreParams, body: jsonBody(named.addFiles) },
    responses: { 204: { description: 'They are in the filestore.' }, ...problems },
  }),
};

export function mountFiles(app: App): void {
  app.openapi(fileRoutes.uploads, async (c) => {
    return c.json(await planUserUploads(contextOf(c, c.var.actor), c.req.valid('json').files), 200);
  });
  app.openapi(fileRoutes.downloads, async (c) => {
    return c.json(await planUserDownloads(contextOf(c, c.var.actor), c.req.valid('json').sha256s), 200);
  });
  app.openapi(fileRoutes.ofJob, async (c) => {
    const input = { ...c.req.valid('param'), ...c.req.valid('query') };
    return c.json(await listJobFiles(contextOf(c, c.var.actor), input), 200);
  });
  app.openapi(fileRoutes.ofFilestore, async (c) => {
    const input = { ...c.req.valid('param'), ...c.req.valid('query') };
    return c.json(await listFilestore(contextOf(c, c.var.actor), input), 200);
  });
  app.openapi(fileRoutes.add, async (c) => {
    await addToFilestore(contextOf(c, c.var.actor), { ...c.req.valid('param'), ...c.req.valid('json') });
    return c.body(null, 204);
  });
  // These are no openapi() handlers, which would read the whole body or require a response that is not a stream.
  app.put(fileRoutes.put.getRoutingPath(), async (c) =>
    storeBlob(c, (sent) => receiveUserFile(contextOf(c, c.var.actor), sent)),
  );
  app.get(fileRoutes.get.getRoutingPath(), async (c) =>
    answerBlob(c, (sha256) => sendUserFile(contextOf(c, c.var.actor), sha256)),
  );
}

export async function storeBlob(c: Context<AppEnv>, receive: (sent: SentFile) => Promise<void>): Promise<Response> {
  const sha256 = hashOf(c);
  const bytes = bodyBytes(c.req);
  const announced = bytes === 'unknown' ? null : bytes;
  await receive({ sha256, announced, body: c.req.raw.body });
  return c.body(null, 204);
}

export async function answerBlob(
  c: Context<AppEnv>,
  send: (sha256: string) => Promise<{ bytes: number; stream: Readable }>,
): Promise<Response> {
  const sha256 = hashOf(c);
  const { bytes, stream } = await send(sha256);
  const headers = { 'Content-Type': fileType, 'Content-Length': String(bytes), 'Cache-Control': 'no-store' };
  return c.body(webStreamOf(stream), 200, headers);
}

function hashOf(c: Context<AppEnv>): string {
  const parsed = blobParams.safeParse(c.req.param());
  if (!parsed.success) throw validationProblem(parsed.error);
  return parsed.data.sha256;
}

/** `Readable.toWeb` has a Node-specific type that Response does not accept. */
function webStreamOf(source: Readable): ReadableStream<Uint8Array<ArrayBuffer>> {
  const chunks = source.iterator({ destroyOnReturn: true });
  return new ReadableStream({
    pull: async (controller) => {
      const { done, value } = await chunks.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
    cancel: () => void source.destroy(),
  });
}
