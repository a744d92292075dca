// People: who one is, tokens, users, and the workspace with its limits.
import type {
  CreatedToken,
  CreatedWorkspace,
  CreateToken,
  CreateWorkspace,
  PutLimits,
  PutUser,
  Token,
  TokenList,
  User,
  UserList,
  Whoami,
  WorkspaceInfo,
  WorkspaceList,
} from '../schema/people.ts';
import type { CallOptions } from './jobs.ts';
import type { RequestOptions, SendRequest } from './request.ts';
import { requestJson } from './request.ts';

export interface TokensApi {
  /**
   * A token that may at most what the asking one may. Its text is in this answer and nowhere else, so that this call is
   * never tried again by itself. Throws PermissionError, ValidationError.
   */
  create(input?: CreateToken, options?: CallOptions): Promise<CreatedToken>;
  /** One's own; for an admin those of the whole workspace. Never their texts. */
  list(options?: CallOptions): Promise<Token[]>;
  /** Within five seconds it opens nothing any more. Twice is the same as once. Throws NotFoundError. */
  revoke(id: string, options?: CallOptions): Promise<Token>;
}

export interface UsersApi {
  list(options?: CallOptions): Promise<User[]>;
  /** Adds somebody, or changes what is named; for admins. Throws PermissionError, ConflictError for the last admin. */
  set(name: string, change: PutUser, options?: CallOptions): Promise<User>;
  /** Removes somebody and revokes their tokens; what they started goes on. Answers with the user as it was. */
  remove(name: string, options?: CallOptions): Promise<User>;
}

export interface WorkspacesApi {
  /** The token's own: its limits, and who uses how much. */
  current(options?: CallOptions): Promise<WorkspaceInfo>;
  /** Changes the limits that are named; for admins. */
  setLimits(limits: PutLimits, options?: CallOptions): Promise<WorkspaceInfo>;
  /** All of the deployment; for operators. */
  list(options?: CallOptions): Promise<WorkspaceList['items']>;
  /** For operators. The admin's token is in this answer only, so that this call is never tried again by itself. */
  create(input: CreateWorkspace, options?: CallOptions): Promise<CreatedWorkspace>;
}

export interface PeopleApi {
  whoami(options?: CallOptions): Promise<Whoami>;
  tokens: TokensApi;
  users: UsersApi;
  workspaces: WorkspacesApi;
}

export function createPeopleApi(request: SendRequest): PeopleApi {
  const ask = <T>(options: Omit<RequestOptions, 'signal'>, { signal }: CallOptions = {}): Promise<T> =>
    requestJson<T>(request, { ...options, signal });
  const userPath = (name: string): string => `/v1/users/${encodeURIComponent(name)}`;
  return {
    whoami: (options) => ask<Whoami>({ method: 'GET', path: '/v1/whoami' }, options),
    tokens: {
      create: (input = {}, options) =>
        ask<CreatedToken>({ method: 'POST', path: '/v1/tokens', body: input, once: true }, options),
      list: async (options) => (await ask<TokenList>({ method: 'GET', path: '/v1/tokens' }, options)).items,
      revoke: (id, options) =>
        ask<Token>({ method: 'POST', path: `/v1/tokens/${encodeURIComponent(id)}/revoke` }, options),
    },
    users: {
      list: async (options) => (await ask<UserList>({ method: 'GET', path: '/v1/users' }, options)).items,
      set: (name, change, options) => ask<User>({ method: 'PUT', path: userPath(name), body: change }, options),
      remove: (name, options) => ask<User>({ method: 'DELETE', path: userPath(name) }, options),
    },
    workspaces: {
      current: (options) => ask<WorkspaceInfo>({ method: 'GET', path: '/v1/workspace' }, options),
      setLimits: (limits, options) =>
        ask<WorkspaceInfo>({ method: 'PUT', path: '/v1/workspace/limits', body: limits }, options),
      list: async (options) => (await ask<WorkspaceList>({ method: 'GET', path: '/v1/workspaces' }, options)).items,
      create: (input, options) =>
        ask<CreatedWorkspace>({ method: 'POST', path: '/v1/workspaces', body: input, once: true }, options),
    },
  };
}
