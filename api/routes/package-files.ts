// Package files, which clients upload before they start a cluster or a job that needs them.
import { createRoute } from '@hono/zod-openapi';

import { packageFileParams } from '../../schema/software.ts';
import { listMissingPackageFiles, readPackageFile, storePackageFile } from '../../services/software/package-files.ts';
import { contextOf, type App } from './app.ts';
import { file, fileBody, fileType, json, jsonBody, named, problems, tokenSecurity } from './schemas.ts';

const common = { tags: ['software'], security: tokenSecurity };

export const packageFileRoutes = {
  missing: createRoute({
    ...common,
    method: 'post',
    path: '/v1/missing-package-files',
    operationId: 'listMissingPackageFiles',
    summary: 'List the package files that are not uploaded yet',
    request: { body: jsonBody(named.missingPackageFilesRequest) },
    responses: {
      200: json(named.missingPackageFiles, 'The files that are not stored, or expire too soon.'),
      ...problems,
    },
  }),
  put: createRoute({
    ...common,
    method: 'put',
    path: '/v1/package-files/{sha256}',
    operationId: 'storePackageFile',
    summary: 'Upload a wheel or a zip file of modules; idempotent',
    request: { params: packageFileParams, body: fileBody },
    responses: { 204: { description: 'It is stored.' }, ...problems },
  }),
  get: createRoute({
    ...common,
    method: 'get',
    path: '/v1/package-files/{sha256}',
    operationId: 'readPackageFile',
    summary: 'Download a package file of the workspace',
    request: { params: packageFileParams },
    responses: { 200: file('The file.'), ...problems },
  }),
};

export function mountPackageFiles(app: App): void {
  app.openapi(packageFileRoutes.missing, async (c) =>
    c.json(await listMissingPackageFiles(contextOf(c, c.var.actor), c.req.valid('json')), 200),
  );
  app.openapi(packageFileRoutes.put, async (c) => {
    const content = new Uint8Array(await c.req.arrayBuffer());
    await storePackageFile(contextOf(c, c.var.actor), { ...c.req.valid('param'), bytes: content });
    return c.body(null, 204);
  });
  app.openapi(packageFileRoutes.get, async (c) => {
    const content = await readPackageFile(contextOf(c, c.var.actor), c.req.valid('param'));
    return c.body(content, 200, { 'Content-Type': fileType, 'Cache-Control': 'no-store' });
  });
}
