// Users, tokens and limits on a terminal.
import type {
  CreatedToken,
  Limits,
  PutDefaults,
  SomeLimits,
  Token,
  User,
  Whoami,
  WorkspaceInfo,
} from '../sdk/client.ts';
import type { CliContext, FormatFlag } from './context.ts';
import { formatTable } from './table.ts';
import type { Column } from './table.ts';
import { formatTime } from './times.ts';

const left = (title: string): Column => ({ title, align: 'left' });
const right = (title: string): Column => ({ title, align: 'right' });

const tokenColumns = ['ID', 'Name', 'User', 'Scopes', 'Created', 'Expires', 'State'].map(left);

export function formatTokens(tokens: readonly Token[], nowMs = Date.now()): string {
  return formatTable(
    tokenColumns,
    tokens.map((token) => {
      const { id, name, user, scopes, createdAt, expiresAt } = token;
      return [id, name, user, scopes.join(' '), formatTime(createdAt), formatTime(expiresAt), stateOf(token, nowMs)];
    }),
  );
}

function stateOf({ revokedAt, expiresAt }: Token, nowMs: number): string {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && Date.parse(expiresAt) <= nowMs ? 'expired' : 'valid';
}

/** Prints only the token on stdout, for `TOKEN=$(ropewalk token create)`, and its description on stderr. */
export function showCreatedToken({ output }: CliContext, created: CreatedToken): void {
  const { id, token, user, workspace, scopes, expiresAt } = created;
  const until = expiresAt === null ? 'valid until it is revoked' : `valid until ${formatTime(expiresAt)}`;
  output.err(`Token ${id} of ${user} (workspace ${workspace}): ${scopes.join(', ')}; ${until}.`);
  output.err('It is shown only now: store it where only you can read it.');
  output.out(token);
}

/** `ada (workspace default): admin; token abcdefghijkl with the scopes read, write` */
export function formatWhoami({ user, workspace, role, scopes, tokenId, expiresAt }: Whoami): string {
  const until = expiresAt === null ? '' : ` until ${formatTime(expiresAt)}`;
  return `${user} (workspace ${workspace}): ${role}; token ${tokenId} with the scopes ${scopes.join(', ')}${until}`;
}

const kinds = ['running', 'instances', 'vcpus'] as const;
const usageColumns = [right('Jobs & clusters'), right('Instances'), right('vCPUs')];

export function formatUsers(users: readonly User[]): string {
  return formatTable(
    [left('Name'), left('Role'), ...usageColumns, left('Since')],
    users.map(({ name, role, use, limits, createdAt }) => [name, role, ...usage(use, limits), formatTime(createdAt)]),
  );
}

/** One row for the workspace, one for each user: usage and limits. */
export function formatWorkspace({ slug, limits, perUser, use, users }: WorkspaceInfo): string {
  const rows = [
    [`workspace ${slug}`, ...usage(use, limits)],
    ...users.map((user) => [`  ${user.name}`, ...usage(user.use, {})]),
    ['limit of each user', ...kinds.map((kind) => (perUser[kind] === undefined ? '' : String(perUser[kind])))],
  ];
  return formatTable([left('Used of allowed'), ...usageColumns], rows);
}

/** `region: us-west-2`, one per line. */
export const formatDefaults = (defaults: PutDefaults): string =>
  Object.entries(defaults)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n') || 'no defaults';

function usage(use: Limits, limits: SomeLimits): string[] {
  return kinds.map((kind) => (limits[kind] === undefined ? String(use[kind]) : `${use[kind]} / ${limits[kind]}`));
}

/** Prints the value as text, or as JSON. */
export function show<T>({ output }: CliContext, { format }: FormatFlag, value: T, text: (value: T) => string): void {
  if (format === 'json') output.json(value);
  else output.out(text(value));
}
