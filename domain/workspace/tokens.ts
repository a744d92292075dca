// API tokens of a workspace. Only hashes live here; a secret is shown once, by whoever made it.
import type { Problem } from '../errors.ts';
import type { WorkspaceLimits, WorkspaceState, WorkspaceToken } from './state.ts';

/** Adds a token. The same id with the same hash is a repeat; with another hash it is refused. */
export function issueToken(
  state: WorkspaceState,
  token: Pick<WorkspaceToken, 'id' | 'sha256' | 'user' | 'scopes' | 'expiresAtMs'>,
  nowMs: number,
): { ok: { id: string } } | { error: Problem } {
  const known = state.tokens.find((each) => each.id === token.id);
  if (known !== undefined) {
    if (known.sha256 === token.sha256) return { ok: { id: token.id } };
    return { error: { code: 'CONFLICT', field: 'id', message: 'A token with this id exists.' } };
  }
  state.tokens.push({ ...token, createdAtMs: nowMs, revokedAtMs: null });
  return { ok: { id: token.id } };
}

/** Revoking twice is revoking once; the first time counts. */
export function revokeToken(
  state: WorkspaceState,
  id: string,
  nowMs: number,
): { ok: { id: string } } | { error: Problem } {
  const token = state.tokens.find((each) => each.id === id);
  if (token === undefined) return { error: { code: 'NOT_FOUND', message: 'There is no token with this id.' } };
  token.revokedAtMs ??= nowMs;
  return { ok: { id } };
}

/** Changes only the limits that are named. */
export function configure(state: WorkspaceState, limits: Partial<WorkspaceLimits>): { ok: WorkspaceLimits } {
  state.limits = { ...state.limits, ...limits };
  return { ok: state.limits };
}
