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
    summary: 'Get the user, role and scopes of the token in use',
    responses: { 200: json(schema.whoami.openapi('Whoami'), 'The user, role and scopes.'), ...problems },
  }),
  createToken: createRoute({
    ...common,
    method: 'post',
    path: '/v1/tokens',
    operationId: 'createToken',
    summary: "Create a token with at most the caller's scopes; the secret is returned only once",
    request: { body: jsonBody(schema.createToken.openapi('CreateToken')) },
    responses: { 201: json(createdToken, 'The token.'), ...problems },
  }),
  listTokens: createRoute({
    ...common,
    method: 'get',
    path: '/v1/tokens',
    operationId: 'listTokens',
    summary: "List the caller's tokens; admins see those of all users",
    responses: { 200: json(schema.tokenList.openapi('TokenList'), 'The tokens, without secrets.'), ...problems },
  }),
  revokeToken: createRoute({
    ...common,
    method: 'post',
    path: '/v1/tokens/{id}/revoke',
    operationId: 'revokeToken',
    summary: 'Revoke a token; every replica refuses it within a second',
    request: { params: schema.tokenIdParam },
    responses: { 200: json(token, 'The revoked token.'), ...problems },
  }),
  listUsers: createRoute({
    ...common,
    method: 'get',
    path: '/v1/users',
    operationId: 'listUsers',
    summary: 'List the users of the workspace',
    responses: { 200: json(schema.userList.openapi('UserList'), 'The complete list.'), ...problems },
  }),
  putUser: createRoute({
    ...common,
    method: 'put',
    path: '/v1/users/{name}',
    operationId: 'putUser',
    summary: 'Add a user, or change their role and limits; for admins',
    request: { params: schema.userParam, body: jsonBody(schema.putUser.openapi('PutUser')) },
    responses: { 200: json(user, 'The user.'), ...problems },
  }),
  removeUser: createRoute({
    ...common,
    method: 'delete',
    path: '/v1/users/{name}',
    operationId: 'removeUser',
    summary: 'Remove a user and revoke their tokens; their jobs and clusters continue; for admins',
    request: { params: schema.userParam },
    responses: { 200: json(user, 'The removed user.'), ...problems },
  }),
  workspace: createRoute({
    ...common,
    method: 'get',
    path: '/v1/workspace',
    operationId: 'getWorkspace',
    summary: 'Get the limits of the workspace, and the usage of each user',
    responses: { 200: json(workspace, 'Your workspace.'), ...problems },
  }),
  putLimits: createRoute({
    ...common,
    method: 'put',
    path: '/v1/workspace/limits',
    operationId: 'putLimits',
    summary: 'Change the given limits of the workspace; for admins',
    request: { body: jsonBody(schema.putLimits.openapi('PutLimits')) },
    responses: { 200: json(workspace, 'Your workspace.'), ...problems },
  }),
  putDefaults: createRoute({
    ...common,
    method: 'put',
    path: '/v1/workspace/defaults',
    operationId: 'putDefaults',
    summary: 'Replace the defaults of the workspace for clusters and jobs; for admins',
    request: { body: jsonBody(schema.putDefaults.openapi('PutDefaults')) },
    responses: { 200: json(workspace, 'Your workspace.'), ...problems },
  }),
  createWorkspace: createRoute({
    ...common,
    method: 'post',
    path: '/v1/workspaces',
    operationId: 'createWorkspace',
    summary: 'Create a workspace with its first admin; for operators',
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
    summary: 'List all workspaces of the deployment; for operators',
    responses: { 200: json(schema.workspaceList.openapi('WorkspaceList'), 'The complete list.'), ...problems },
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
