// Ensures at each start of a home: the workspace `default`, and a config.yaml with a token that the database accepts. The
// token's secret is only written to that file (0600) and never printed.
import { userInfo } from 'node:os';

import { parse, stringify } from 'yaml';

import { RopewalkError } from '../domain/errors.ts';
import { readTextOrNull } from '../ops/files.ts';
import { createFirstAdmin, defaultWorkspace } from '../ops/init/first-admin.ts';
import type { Keys } from '../platform/keys.ts';
import { isHashOf, newTokenSecret, parseToken, tokenText } from '../platform/token-secret.ts';
import { writeWhole } from '../providers/local/files.ts';
import { type UserConfig, userConfig } from '../schema/user-config.ts';
import type { Store } from '../store/store.ts';

/** The outcome for the token: it works, it is the first one, or it replaces one that the database refuses. */
export type TokenOutcome = 'kept' | 'new' | 'replaced';

export async function ensureUserConfig(
  store: Store,
  { keys, configFile, apiUrl }: { keys: Keys; configFile: string; apiUrl: string },
): Promise<TokenOutcome> {
  const before = await readUserConfig(configFile);
  const workspace = before.token === undefined ? null : await workspaceOfToken(store, keys, before.token);
  if (workspace !== null && before.apiUrl === apiUrl) return 'kept';
  const after =
    workspace === null
      ? { token: await issueToken(store, keys), workspace: defaultWorkspace }
      : { token: before.token, workspace };
  await writeWhole(configFile, stringify({ ...before, apiUrl, ...after }));
  if (workspace !== null) return 'kept';
  return before.token === undefined ? 'new' : 'replaced';
}

/** A token of this machine's user, who is an admin of workspace `default` unless they have another role. */
async function issueToken(store: Store, keys: Keys): Promise<string> {
  const user = userInfo().username;
  const { token } = await createFirstAdmin(store, keys, { workspace: defaultWorkspace, admin: user });
  if (token !== null) return token;
  const secret = newTokenSecret(keys);
  const { id, secretHash } = secret;
  const item = { id, secretHash, user, name: 'ropewalk dev', scopes: null, expiresAtMs: null, by: null };
  const answer = await store.people.issueToken(defaultWorkspace, item, Date.now());
  if ('error' in answer) throw new RopewalkError(answer.error);
  return tokenText(defaultWorkspace, secret);
}

/** Null when the database does not accept the token. */
async function workspaceOfToken(store: Store, keys: Keys, text: string): Promise<string | null> {
  const parsed = parseToken(text);
  const found = parsed === null ? null : await store.people.findToken(parsed.workspace, parsed.id);
  if (parsed === null || found === null || found.user === null) return null;
  const { secretHash, revokedAtMs, expiresAtMs } = found.token;
  const isValid =
    isHashOf(keys, secretHash, parsed.secret) && revokedAtMs === null && (expiresAtMs ?? Infinity) > Date.now();
  return isValid ? parsed.workspace : null;
}

async function readUserConfig(path: string): Promise<UserConfig> {
  const text = await readTextOrNull(path);
  if (text === null) return {};
  try {
    return userConfig.parse(parse(text) ?? {});
  } catch {
    // Omits the parser's message and the cause, which may quote the line with the token.
    const hint = 'Correct it, or move it away: the next start writes another one.';
    throw new RopewalkError({ code: 'VALIDATION', message: `${path} is not a valid configuration`, hint });
  }
}
