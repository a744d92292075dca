// People over HTTP: identity, tokens, users, limits and workspaces.
import { createRoute } from '@hono/zod-openapi';

import * as schema from '../../schema/people.ts';
import { createToken, listTokens, revokeToken } from '../../services/people/tokens.ts';
import { listUsers, putUser, removeUser } from '../../services/people/users.ts';
import { whoami } from '../../services/people/whoami.ts';
import { putDefaults } from '../../services/people/defaults.ts';
import { getWorkspace, putLimits } from '../../services/people/workspace.ts';
import { createWorkspace, listWorkspaces } from '../../services/people/workspaces.ts';
import { contextOf, type App } from './app.ts';
import { json, jsonBody, problems, tokenSecurity } from './schemas.ts';

const common = { tags: ['people'], security: tokenSecurity };
export const createdToken = schema.createdToken.openapi('CreatedToken');
const token = schema.token.openapi('Token');
const user = schema.user.openapi('User');
const workspace = schema.workspaceInfo.openapi('Workspace');

export const peopleRoutes = {
  whoami: createRoute({
    ...common,
    method: 'get',
    path: '/v1/whoami',
    operationId: 'whoami',
    summary: 'Who this token is, and what it may do',
    responses: { 200: json(schema.whoami.openapi('Whoami'), 'You.'), ...problems },
  }),
  createToken: createRoute({
    ...common,
    method: 'post',
    path: '/v1/tokens',
    operationId: 'createToken',
    summary: 'Make a token; it may at most what yours may, and is shown this once',
    request: { body: jsonBody(schema.createToken.openapi('CreateToken')) },
    responses: { 201: json(createdToken, 'The token.'), ...problems },
  }),
  listTokens: createRoute({
    ...common,
    method: 'get',
    path: '/v1/tokens',
    operationId: 'listTokens',
    summary: 'Your tokens; an admin sees those of all users',
    responses: { 200: json(schema.tokenList.openapi('TokenList'), 'Never a secret.'), ...problems },
  }),
  revokeToken: createRoute({
    ...common,
    method: 'post',
    path: '/v1/tokens/{id}/revoke',
    operationId: 'revokeToken',
    summary: 'Revoke a token: within a second it is refused everywhere',
    request: { params: schema.tokenIdParam },
    responses: { 200: json(token, 'The token, which is revoked.'), ...problems },
  }),
  listUsers: createRoute({
    ...common,
    method: 'get',
    path: '/v1/users',
    operationId: 'listUsers',
    summary: 'The people of the workspace',
    responses: { 200: json(schema.userList.openapi('UserList'), 'All of them.'), ...problems },
  }),
  putUser: createRoute({
    ...common,
    method: 'put',
    path: '/v1/users/{name}',
    operationId: 'putUser',
    summary: 'Add a user, or change role and limits; for admins',
    request: { params: schema.userParam, body: jsonBody(schema.putUser.openapi('PutUser')) },
    responses: { 200: json(user, 'The user.'), ...problems },
  }),
  removeUser: createRoute({
    ...common,
    method: 'delete',
    path: '/v1/users/{name}',
    operationId: 'removeUser',
    summary: 'Remove a user and revoke their tokens; what they started goes on; for admins',
    request: { params: schema.userParam },
    responses: { 200: json(user, 'The user as it was.'), ...problems },
  }),
  workspace: createRoute({
    ...common,
    method: 'get',
    path: '/v1/workspace',
    operationId: 'getWorkspace',
    summary: 'Limits of the workspace, and who uses how much',
    responses: { 200: json(workspace, 'Your workspace.'), ...problems },
  }),
  putLimits: createRoute({
    ...common,
    method: 'put',
    path: '/v1/workspace/limits',
    operationId: 'putLimits',
    summary: 'Change the limits that are named; for admins',
    request: { body: jsonBody(schema.putLimits.openapi('PutLimits')) },
    responses: { 200: json(workspace, 'Your workspace.'), ...problems },
  }),
  putDefaults: createRoute({
    ...common,
    method: 'put',
    path: '/v1/workspace/defaults',
    operationId: 'putDefaults',
    summary: 'Replace what clusters and jobs get that do not say otherwise; for admins',
    request: { body: jsonBody(schema.putDefaults.openapi('PutDefaults')) },
    responses: { 200: json(workspace, 'Your workspace.'), ...problems },
  }),
  createWorkspace: createRoute({
    ...common,
    method: 'post',
    path: '/v1/workspaces',
    operationId: 'createWorkspace',
    summary: 'Make a workspace with its first admin; for operators',
    request: { body: jsonBody(schema.createWorkspace.openapi('CreateWorkspace')) },
    responses: {
      201: json(schema.createdWorkspace.openapi('CreatedWorkspace'), "The workspace and its admin's token."),
      ...problems,
    },
  }),
  listWorkspaces: createRoute({
    ...common,
    method: 'get',
    path: '/v1/workspaces',
    operationId: 'listWorkspaces',
    summary: 'All workspaces of the deployment; for operators',
    responses: { 200: json(schema.workspaceList.openapi('WorkspaceList'), 'All of them.'), ...problems },
  }),
};

export function mountPeople(app: App): void {
  app.openapi(peopleRoutes.whoami, (c) => c.json(whoami(contextOf(c, c.var.actor)), 200));
  app.openapi(peopleRoutes.createToken, async (c) => {
    c.header('Cache-Control', 'no-store');
    return c.json(await createToken(contextOf(c, c.var.actor), c.req.valid('json')), 201);
  });
  app.openapi(peopleRoutes.listTokens, async (c) => c.json(await listTokens(contextOf(c, c.var.actor)), 200));
  app.openapi(peopleRoutes.revokeToken, async (c) =>
    c.json(await revokeToken(contextOf(c, c.var.actor), c.req.valid('param')), 200),
  );
  app.openapi(peopleRoutes.listUsers, async (c) => c.json(await listUsers(contextOf(c, c.var.actor)), 200));
  app.openapi(peopleRoutes.putUser, async (c) => {
    const input = { ...c.req.valid('param'), ...c.req.valid('json') };
    return c.json(await putUser(contextOf(c, c.var.actor), input), 200);
  });
  app.openapi(peopleRoutes.removeUser, async (c) =>
    c.json(await removeUser(contextOf(c, c.var.actor), c.req.valid('param')), 200),
  );
  app.openapi(peopleRoutes.workspace, async (c) => c.json(await getWorkspace(contextOf(c, c.var.actor)), 200));
  app.openapi(peopleRoutes.putLimits, async (c) =>
    c.json(await putLimits(contextOf(c, c.var.actor), c.req.valid('json')), 200),
  );
  app.openapi(peopleRoutes.putDefaults, async (c) =>
    c.json(await putDefaults(contextOf(c, c.var.actor), c.req.valid('json')), 200),
  );
  app.openapi(peopleRoutes.createWorkspace, async (c) => {
    c.header('Cache-Control', 'no-store');
    return c.json(await createWorkspace(contextOf(c, c.var.actor), c.req.valid('json')), 201);
  });
  app.openapi(peopleRoutes.listWorkspaces, async (c) => c.json(await listWorkspaces(contextOf(c, c.var.actor)), 200));
}
