// The routes with which agents claim and store shared environments.
import { createRoute } from '@hono/zod-openapi';
import type { Context } from 'hono';

import { buildArchiveParams, buildParams } from '../../schema/shared-builds.ts';
import { announceArchive, receiveArchive, sendArchive } from '../../services/shared-builds/archive.ts';
import { claimBuild } from '../../services/shared-builds/claim.ts';
import { noteProgress } from '../../services/shared-builds/progress.ts';
import { validationProblem } from '../middleware/errors.ts';
import { contextOf, type App, type AppEnv } from '../routes/app.ts';
import { answerBlob, storeBlob } from '../routes/files.ts';
import { file, fileBody, instanceSecurity, json, jsonBody, named, problems } from '../routes/schemas.ts';

const common = { tags: ['agent'], security: instanceSecurity };

export const sharedBuildRoutes = {
  claim: createRoute({
    ...common,
    method: 'post',
    path: '/v1/agent/environment-builds',
    operationId: 'claimEnvironmentBuild',
    summary: 'Claim an environment build: the answer is to download, to build, or to wait',
    request: { body: jsonBody(named.buildClaimRequest) },
    responses: { 200: json(named.buildClaimAnswer, 'Download, build, or wait.'), ...problems },
  }),
  progress: createRoute({
    ...common,
    method: 'post',
    path: '/v1/agent/environment-builds/{build}/progress',
    operationId: 'noteEnvironmentBuild',
    summary: 'Report the progress of an environment build',
    request: { params: buildParams, body: jsonBody(named.buildProgress) },
    responses: { 200: json(named.buildProgressAnswer, 'Whether the archive is still wanted.'), ...problems },
  }),
  archive: createRoute({
    ...common,
    method: 'post',
    path: '/v1/agent/environment-builds/{build}/archive',
    operationId: 'announceEnvironmentArchive',
    summary: 'Announce the archive of a build, before and after its upload',
    request: { params: buildParams, body: jsonBody(named.buildArchive) },
    responses: {
      200: json(named.buildArchiveAnswer, 'The upload address, or that the archive is stored.'),
      ...problems,
    },
  }),
  put: createRoute({
    ...common,
    method: 'put',
    path: '/v1/agent/environment-archives/{build}/{sha256}',
    operationId: 'storeEnvironmentArchive',
    summary: 'Upload an environment archive through the API, when the object store is a directory',
    request: { params: buildArchiveParams, body: fileBody },
    responses: { 204: { description: 'All of it has come.' }, ...problems },
  }),
  get: createRoute({
    ...common,
    method: 'get',
    path: '/v1/agent/environment-archives/{build}/{sha256}',
    operationId: 'readEnvironmentArchive',
    summary: 'Download an environment archive through the API, when the object store is a directory',
    request: { params: buildArchiveParams },
    responses: { 200: file('The archive: a tar file, compressed by zstd.'), ...problems },
  }),
};

export function mountSharedBuilds(app: App): void {
  app.openapi(sharedBuildRoutes.claim, async (c) =>
    c.json(await claimBuild(contextOf(c, c.var.instance), c.req.valid('json')), 200),
  );
  app.openapi(sharedBuildRoutes.progress, async (c) => {
    const input = { ...c.req.valid('param'), ...c.req.valid('json') };
    return c.json(await noteProgress(contextOf(c, c.var.instance), input), 200);
  });
  app.openapi(sharedBuildRoutes.archive, async (c) => {
    const input = { ...c.req.valid('param'), archive: c.req.valid('json') };
    return c.json(await announceArchive(contextOf(c, c.var.instance), input), 200);
  });
  app.put(sharedBuildRoutes.put.getRoutingPath(), async (c) =>
    storeBlob(c, (sent) => receiveArchive(contextOf(c, c.var.instance), buildOf(c), sent)),
  );
  app.get(sharedBuildRoutes.get.getRoutingPath(), async (c) =>
    answerBlob(c, (sha256) => sendArchive(contextOf(c, c.var.instance), { build: buildOf(c), sha256 })),
  );
}

function buildOf(c: Context<AppEnv>): string {
  const parsed = buildParams.pick({ build: true }).safeParse(c.req.param());
  if (!parsed.success) throw validationProblem(parsed.error);
  return parsed.data.build;
}
