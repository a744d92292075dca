// The caller's identity, tokens, users, and workspaces with their limits.
import type {
  CreatedToken,
  CreatedWorkspace,
  CreateToken,
  CreateWorkspace,
  PutDefaults,
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
import type { CallOptions } from './options.ts';
import type { RequestOptions, SendRequest } from './request.ts';
import { requestJson } from './request.ts';

export interface TokensApi {
  /**
   * Creates a token with at most the caller's own rights. Only this answer contains its secret, so the call is never repeated
   * automatically. Throws PermissionError, ValidationError.
   */
  create(input?: CreateToken, options?: CallOptions): Promise<CreatedToken>;
  /** The caller's own tokens; for an admin, all tokens of the workspace. Without their secrets. */
  list(options?: CallOptions): Promise<Token[]>;
  /** The API refuses the token within seconds. Has no effect on a revoked token. Throws NotFoundError. */
  revoke(id: string, options?: CallOptions): Promise<Token>;
}

export interface UsersApi {
  list(options?: CallOptions): Promise<User[]>;
  /** Adds a user, or changes the given properties; for admins. Throws PermissionError, ConflictError for the last admin. */
  set(name: string, change: PutUser, options?: CallOptions): Promise<User>;
  /** Removes a user and revokes their tokens; their jobs and clusters continue. Returns the removed user. */
  remove(name: string, options?: CallOptions): Promise<User>;
}

export interface WorkspacesApi {
  /** The token's workspace: its limits, and the usage of each user. */
  current(options?: CallOptions): Promise<WorkspaceInfo>;
  /** Changes the given limits; for admins. */
  setLimits(limits: PutLimits, options?: CallOptions): Promise<WorkspaceInfo>;
  /** Replaces the defaults of clusters and jobs; for admins. */
  setDefaults(defaults: PutDefaults, options?: CallOptions): Promise<WorkspaceInfo>;
  /** All workspaces of the deployment; for operators. */
  list(options?: CallOptions): Promise<WorkspaceList['items']>;
  /** For operators. Only this answer contains the admin's token, so the call is never repeated automatically. */
  create(input: CreateWorkspace, options?: CallOptions): Promise<CreatedWorkspace>;
}

export interface PeopleApi {
  whoami(options?: CallOptions): Promise<Whoami>;
  tokens: TokensApi;
  users: UsersApi;
  workspaces: WorkspacesApi;
}

export function createPeopleApi(request: SendRequest): PeopleApi {
  const send = <T>(options: Omit<RequestOptions, 'signal'>, { signal }: CallOptions = {}): Promise<T> =>
    requestJson<T>(request, { ...options, signal });
  const userPath = (name: string): string => `/v1/users/${encodeURIComponent(name)}`;
  return {
    whoami: (options) => send<Whoami>({ method: 'GET', path: '/v1/whoami' }, options),
    tokens: {
      create: (input = {}, options) =>
        send<CreatedToken>({ method: 'POST', path: '/v1/tokens', body: input, once: true }, options),
      list: async (options) => (await send<TokenList>({ method: 'GET', path: '/v1/tokens' }, options)).items,
      revoke: (id, options) =>
        send<Token>({ method: 'POST', path: `/v1/tokens/${encodeURIComponent(id)}/revoke` }, options),
    },
    users: {
      list: async (options) => (await send<UserList>({ method: 'GET', path: '/v1/users' }, options)).items,
      set: (name, change, options) => send<User>({ method: 'PUT', path: userPath(name), body: change }, options),
      remove: (name, options) => send<User>({ method: 'DELETE', path: userPath(name) }, options),
    },
    workspaces: {
      current: (options) => send<WorkspaceInfo>({ method: 'GET', path: '/v1/workspace' }, options),
      setLimits: (limits, options) =>
        send<WorkspaceInfo>({ method: 'PUT', path: '/v1/workspace/limits', body: limits }, options),
      setDefaults: (defaults, options) =>
        send<WorkspaceInfo>({ method: 'PUT', path: '/v1/workspace/defaults', body: defaults }, options),
      list: async (options) => (await send<WorkspaceList>({ method: 'GET', path: '/v1/workspaces' }, options)).items,
      create: (input, options) =>
        send<CreatedWorkspace>({ method: 'POST', path: '/v1/workspaces', body: input, once: true }, options),
    },
  };
}
