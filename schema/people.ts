// People over HTTP: identity, tokens, users, limits, workspaces, and sign-in on another device.
//
// GET    /v1/whoami                     whoami
// POST   /v1/tokens                     createToken -> createdToken (201); the secret is shown only once
// GET    /v1/tokens                     -> tokenList; the caller's own; for an admin, all of the workspace
// POST   /v1/tokens/{id}/revoke         -> token; idempotent
// GET    /v1/users                      -> userList
// PUT    /v1/users/{name}               putUser -> user; creates or changes; admin
// DELETE /v1/users/{name}               -> user as it was; revokes its tokens, its objects stay; admin
// GET    /v1/workspace                  -> workspace: limits, and usage by user
// PUT    /v1/workspace/defaults         putDefaults -> workspace; admin
// PUT    /v1/workspace/limits           putLimits -> workspace; admin
// POST   /v1/workspaces                 createWorkspace -> createdWorkspace (201); scope operator
// GET    /v1/workspaces                 -> workspaceList; scope operator
// GET    /v1/login/methods              (no token) -> loginMethods
// POST   /v1/login/mail                 (no token) requestLink -> requestedLink (202); sends a link to /login/mail/link, if a user has the address
// POST   /v1/login/oidc/token           (no token) takeSignIn -> createdToken
// GET    /login/oidc                    begins a sign-in at the identity provider, which returns to /login/oidc/callback
// POST   /v1/login/device               (no token) deviceLogin -> startedLogin
// POST   /v1/login/device/token         (no token) deviceToken -> createdToken; 428 AUTHORIZATION_PENDING, 410 EXPIRED, 403 when denied
// POST   /v1/login/device/approve       approveLogin -> approvedLogin
// GET    /login?code=ABCD-EFGH          the approval page, which sends POST /login
import { z } from 'zod';

import { userNamePattern } from '../domain/people/users.ts';
import { durationInput, label } from './common.ts';
import { workspaceDefaultsInput } from './machines.ts';

const count = z.number().int();
const limit = z.number().int().min(0).max(1_000_000);
const time = z.iso.datetime();

export const role = z.enum(['admin', 'member', 'read-only']);
export type Role = z.infer<typeof role>;

/** `write` includes `read`, `admin` includes both; `operator` creates workspaces, and exists only in the workspace `default`. */
export const scope = z.enum(['read', 'write', 'admin', 'operator']);
export type Scope = z.infer<typeof scope>;

export const userName = z
  .string()
  .regex(
    userNamePattern,
    'letters, digits, ".", "_", "@", "+" and "-", starting with a letter, digit or "_", at most 100',
  );
export const slug = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,39}$/, 'a-z, 0-9 and "-", not starting with "-", at most 40');

export const whoami = z.object({
  workspace: z.string(),
  user: z.string(),
  role,
  /** The token's current rights: its own scopes, limited to those of its user's role. */
  scopes: z.array(scope),
  tokenId: z.string(),
  expiresAt: time.nullable(),
});
export type Whoami = z.infer<typeof whoami>;

export const createToken = z.strictObject({
  /** A user of the same workspace; the caller, unless an admin names another. */
  user: userName.optional(),
  /** Its purpose, e.g. `laptop` or `ci`. */
  name: label,
  /** By default all scopes of the creating token that the user's role allows; for another user without `operator`. */
  scopes: z.array(scope).min(1).max(4).optional(),
  /** From now, e.g. `30 days`; by default the token is valid until it is revoked. */
  expires: durationInput.optional(),
});
export type CreateToken = z.input<typeof createToken>;
export type CreateTokenParsed = z.output<typeof createToken>;

export const createdToken = z.object({
  id: z.string(),
  /** The whole token. It is shown only once and stored nowhere. */
  token: z.string(),
  workspace: z.string(),
  user: z.string(),
  scopes: z.array(scope),
  expiresAt: time.nullable(),
});
export type CreatedToken = z.infer<typeof createdToken>;

export const token = z.object({
  id: z.string(),
  name: z.string(),
  user: z.string(),
  scopes: z.array(scope),
  createdAt: time,
  /** The user who created it; null for the operator, on the API's host. */
  createdBy: z.string().nullable(),
  expiresAt: time.nullable(),
  revokedAt: time.nullable(),
});
export type Token = z.infer<typeof token>;
export const tokenList = z.object({ items: z.array(token) });
export type TokenList = z.infer<typeof tokenList>;
export const tokenIdParam = z.object({ id: z.string().regex(/^[a-z0-9]{12}$/, '12 letters and digits') });

/** Maximum number of open jobs and clusters, instances, and vCPUs at a time. */
export const limits = z.object({ running: count, instances: count, vcpus: count });
export type Limits = z.infer<typeof limits>;
export const someLimits = z.strictObject({
  running: limit.optional(),
  instances: limit.optional(),
  vcpus: limit.optional(),
});
export type SomeLimits = z.infer<typeof someLimits>;

/** Null removes the limit. */
export const changedLimits = z.strictObject({
  running: limit.nullable().optional(),
  instances: limit.nullable().optional(),
  vcpus: limit.nullable().optional(),
});
export type ChangedLimits = z.infer<typeof changedLimits>;

/** Changes only the given fields. `limits: null` removes the user's own limits, null for one of them that one. */
export const putUser = z.strictObject({ role: role.optional(), limits: changedLimits.nullable().optional() });
export type PutUser = z.infer<typeof putUser>;
export const user = z.object({
  name: z.string(),
  role,
  /** The user's own limits, which override `perUser` of the workspace. */
  limits: someLimits,
  use: limits,
  createdAt: time,
});
export type User = z.infer<typeof user>;
export const userList = z.object({ items: z.array(user) });
export type UserList = z.infer<typeof userList>;
export const userParam = z.object({ name: userName });

export const putLimits = z.strictObject({
  ...someLimits.shape,
  /** For each user without their own limits; null removes it, null for one of them that one. */
  perUser: changedLimits.nullable().optional(),
});
export type PutLimits = z.infer<typeof putLimits>;

/** Replaces all defaults: an absent field then has no default. The shape is domain/people/defaults.ts. */
export const putDefaults = z.strictObject(workspaceDefaultsInput);
export type PutDefaults = z.infer<typeof putDefaults>;

export const workspaceInfo = z.object({
  slug: z.string(),
  limits,
  perUser: someLimits,
  /** Defaults of clusters and jobs. */
  defaults: putDefaults,
  use: limits,
  users: z.array(z.object({ name: z.string(), use: limits })),
  /** Changes of people and limits; for admins, newest last. */
  events: z.array(z.object({ at: time, by: z.string().nullable(), code: z.string(), text: z.string() })),
});
export type WorkspaceInfo = z.infer<typeof workspaceInfo>;

export const createWorkspace = z.strictObject({
  slug,
  /** The first user, an admin. */
  admin: userName,
});
export type CreateWorkspace = z.infer<typeof createWorkspace>;
export const createdWorkspace = z.object({ slug: z.string(), admin: createdToken });
export type CreatedWorkspace = z.infer<typeof createdWorkspace>;
export const workspaceList = z.object({ items: z.array(z.object({ slug: z.string(), createdAt: time })) });
export type WorkspaceList = z.infer<typeof workspaceList>;

/** Ways to sign in besides an API token. */
export const loginMethods = z.object({
  /** The identity provider's configured name, and the path where a sign-in with it begins; null when none is configured. */
  provider: z.object({ name: z.string(), path: z.string() }).nullable(),
  /** Links in e-mails are sent to the addresses of users. */
  mail: z.boolean(),
});
export type LoginMethods = z.infer<typeof loginMethods>;
/** `challenge`: the SHA-256 of the page's verifier, in base64url. */
export const requestLink = z.strictObject({
  address: z.string().min(1).max(254),
  challenge: z.string().regex(/^[A-Za-z0-9_-]{43}$/, '32 bytes in base64url'),
});
export type RequestLink = z.infer<typeof requestLink>;
/** The same for every address. */
export const requestedLink = z.object({ expiresInSeconds: count });
export type RequestedLink = z.infer<typeof requestedLink>;
/** `code`: from the return of a sign-in; `verifier`: the value whose SHA-256 began the sign-in. */
export const takeSignIn = z.strictObject({
  code: z.string().min(1).max(4_000),
  verifier: z.string().regex(/^[A-Za-z0-9_-]{43}$/, '32 bytes in base64url'),
});
export type TakeSignIn = z.infer<typeof takeSignIn>;

/** The device's name on the approval page, e.g. `ropewalk CLI on laptop`. */
export const deviceLogin = z.strictObject({ client: label });
export type DeviceLogin = z.input<typeof deviceLogin>;
export const startedLogin = z.object({
  /** A secret of the requesting device, never shown. */
  deviceCode: z.string(),
  /** A code to compare and type, e.g. `BCDF-GHJK`. */
  userCode: z.string(),
  verificationUrl: z.string(),
  /** Includes the user code. */
  verificationUrlComplete: z.string(),
  expiresInSeconds: count,
  intervalSeconds: count,
});
export type StartedLogin = z.infer<typeof startedLogin>;
export const deviceToken = z.strictObject({ deviceCode: z.string().min(1).max(200) });
export const approveLogin = z.strictObject({
  userCode: z.string().min(1).max(20),
  /** False denies the sign-in. */
  approve: z.boolean().default(true),
  /** Scopes of the device's token; by default `read` and `write`, limited to those of the approving token. */
  scopes: z.array(scope).min(1).max(4).optional(),
  /** Lifetime of the device's token: by default 30 days, at most 365, and never longer than that of the approving token. */
  expires: durationInput.optional(),
});
export type ApproveLogin = z.input<typeof approveLogin>;
export type ApproveLoginParsed = z.output<typeof approveLogin>;
export const approvedLogin = z.object({
  client: z.string(),
  /** The address where the login began, if known. */
  place: z.string().nullable(),
  approved: z.boolean(),
  scopes: z.array(scope),
  expiresAt: time.nullable(),
});
export type ApprovedLogin = z.infer<typeof approvedLogin>;
