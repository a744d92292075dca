// The users and tokens of one workspace in memory, changed by the rules alone, as the store does with rows.
import { authorityOf, type Caller } from '../../../domain/people/authority.ts';
import type { Problem } from '../../../domain/errors.ts';
import type { By, IssueToken, PutUser, Token, User } from '../../../domain/people/state.ts';
import { issueFirstToken, issueToken, revokeToken, type NewToken } from '../../../domain/people/tokens.ts';
import { putUser, removeUser } from '../../../domain/people/users.ts';

export interface Model {
  slug: string;
  users: User[];
  tokens: Token[];
  /** User ids created so far. */
  ids: number;
}

type Outcome<T> = { ok: T } | { error: Problem };

/** With its first admin `root` and the token `t0`. */
export function aModel(slug = 'w'): Model {
  const model: Model = { slug, users: [], tokens: [], ids: 0 };
  const admin = { name: 'root', token: { id: 't0', secretHash: 's0', expiresAtMs: null } };
  const made = issueFirstToken({ slug, known: null, users: 0, newUserId: newId(model) }, admin, 0);
  if ('ok' in made) write(model, made.ok);
  return model;
}

export const callerOf = ({ slug, users, tokens }: Model, by: By): Caller => ({
  ...{ slug, by },
  token: tokens.find(({ id }) => id === by?.tokenId) ?? null,
  user: users.find(({ name }) => name === by?.user) ?? null,
});

export const scopesOf = (model: Model, by: By, nowMs: number): readonly string[] => {
  const authority = authorityOf(callerOf(model, by), nowMs);
  return 'error' in authority ? [] : authority.scopes;
};

export function issue(model: Model, item: IssueToken, nowMs: number): Outcome<NewToken> {
  const { users, tokens } = model;
  const user = users.find(({ name }) => name === item.user) ?? null;
  const known = tokens.find(({ id }) => id === item.id) ?? null;
  const rows = { caller: callerOf(model, item.by), known, user, counted: tokens.length, newUserId: newId(model) };
  const answer = issueToken(rows, item, nowMs);
  if ('ok' in answer) write(model, answer.ok);
  return answer;
}

export function revoke(model: Model, { id, by }: { id: string; by: By }, nowMs: number): Outcome<{ token: Token }> {
  const token = model.tokens.find((each) => each.id === id) ?? null;
  const answer = revokeToken({ caller: callerOf(model, by), token }, nowMs);
  if ('ok' in answer) model.tokens = model.tokens.map((each) => (each.id === id ? answer.ok.token : each));
  return answer;
}

export function put(model: Model, item: PutUser, nowMs: number): Outcome<{ user: User }> {
  const answer = putUser({ ...userRows(model, item.name, item.by), newUserId: newId(model) }, item, nowMs);
  if ('error' in answer) return answer;
  const { user } = answer.ok;
  model.users = [...model.users.filter(({ name }) => name !== user.name), user];
  return answer;
}

export function remove(model: Model, { name, by }: { name: string; by: By }, nowMs: number): Outcome<{ user: User }> {
  const answer = removeUser(userRows(model, name, by), name, nowMs);
  if ('error' in answer) return answer;
  const { id } = answer.ok.user;
  model.users = model.users.filter((user) => user.id !== id);
  model.tokens = model.tokens.map((token) =>
    token.userId === id ? { ...token, revokedAtMs: token.revokedAtMs ?? nowMs } : token,
  );
  return answer;
}

const userRows = (model: Model, name: string, by: By) => ({
  caller: callerOf(model, by),
  known: model.users.find((user) => user.name === name) ?? null,
  users: model.users.length,
  admins: model.users.filter(({ role }) => role === 'admin').length,
});

function write(model: Model, { user, token }: NewToken): void {
  if (user !== null) model.users = [...model.users, user];
  if (token !== null) model.tokens = [...model.tokens, token];
}

const newId = (model: Model): string => `u_${(model.ids += 1)}`;
