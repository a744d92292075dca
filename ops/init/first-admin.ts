// The first user of a workspace. An admin adds the others, through the API.
import { RopewalkError } from '../../domain/errors.ts';
import type { Keys } from '../../platform/keys.ts';
import { newTokenSecret, tokenText } from '../../platform/token-secret.ts';
import { userName } from '../../schema/people.ts';
import type { Store } from '../../store/store.ts';

/** The workspace of every deployment; its admins may be operators. */
export const defaultWorkspace = 'default';

export interface FirstAdmin {
  workspace: string;
  user: string;
  /** Null: the workspace already has users, and nothing was changed. Shown once, because the database has only its hash. */
  token: string | null;
}

/**
 * Creates the workspace with its first admin, unless it has users.
 *
 * @throws RopewalkError VALIDATION for an invalid workspace or user name.
 */
export async function createFirstAdmin(
  store: Store,
  keys: Keys,
  { workspace, admin }: { workspace: string; admin: string },
): Promise<FirstAdmin> {
  const name = userName.safeParse(admin);
  if (!name.success) {
    const message = `"${admin}" cannot be the name of a user: ${name.error.issues[0]?.message ?? 'it is not valid'}`;
    throw new RopewalkError({ code: 'VALIDATION', message, hint: 'Choose another one with --admin.' });
  }
  const secret = newTokenSecret(keys);
  const token = { id: secret.id, secretHash: secret.secretHash, expiresAtMs: null };
  const answer = await store.workspaces.create({
    slug: workspace,
    admin: { name: name.data, token },
    nowMs: Date.now(),
  });
  if ('ok' in answer) return { workspace, user: name.data, token: tokenText(workspace, secret) };
  if (answer.error.code === 'CONFLICT') return { workspace, user: name.data, token: null };
  throw new RopewalkError(answer.error);
}

/** In any workspace. */
export async function hasUsers(store: Store): Promise<boolean> {
  for (const { slug } of await store.workspaces.list()) {
    if ((await store.people.listUsers(slug)).length > 0) return true;
  }
  return false;
}
