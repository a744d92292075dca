// Named ways of breaking the rules of people and shares; see ../mutants.ts.
import type { Mutant } from '../mutants.ts';

export const peopleMutants: Mutant[] = [
  {
    name: 'a revoked token goes on',
    file: 'workspace/authority.ts',
    from: 'if (token.revokedAtMs !== null || (token.expiresAtMs',
    to: 'if ((token.expiresAtMs',
  },
  {
    name: 'a token may more than its maker',
    file: 'workspace/tokens.ts',
    from: 'if (beyond !== undefined) return { error: tooMuch(beyond, user) };',
    to: '',
  },
  {
    name: 'a token outlives its maker',
    file: 'workspace/tokens.ts',
    from: 'if (maker.expiresAtMs !== null && (expiresAtMs ?? Infinity) > maker.expiresAtMs) return { error: tooLong };',
    to: '',
  },
  {
    name: "somebody else's token can be made by anybody",
    file: 'workspace/tokens.ts',
    from: "if (by !== null && user !== by.user && !includes(maker.scopes, 'admin')) return { error: ownOnly };",
    to: '',
  },
  {
    name: 'the last admin can go',
    file: 'workspace/users.ts',
    from: "if (user.role === 'admin' && admins(state) === 1) return { error: lastAdmin(name) };",
    to: '',
  },
  {
    name: 'who is removed comes back with old tokens',
    file: 'workspace/users.ts',
    from: 'for (const token of state.tokens) if (token.user === name) token.revokedAtMs ??= nowMs;',
    to: '',
  },
  {
    name: "a user's own limits are not looked at",
    file: 'workspace/use.ts',
    from: '{ ...state.perUser, ...own }',
    to: 'state.perUser',
  },
  {
    name: 'a share falls before the cluster was told',
    file: 'workspace/shares.ts',
    from: 'held: Math.max(part.held, instances) };',
    to: 'held: instances };',
  },
  {
    name: 'a share is given back while its instances run',
    file: 'workspace/shares.ts',
    from: 'if (!speaksOf(holder.has, holder.share)) holder.has = {',
    to: 'if (holder.number < 0) holder.has = {',
  },
  {
    name: 'the word of a cluster that has not heard the newest request counts',
    file: 'workspace/shares.ts',
    from: 'if (holder?.share === undefined || !speaksOf(has, holder.share)) return;',
    to: 'if (holder?.share === undefined) return;',
  },
  {
    name: 'what has ended is held for ever',
    file: 'workspace/shares.ts',
    from: '  take(holder, holder.share);\n',
    to: '',
  },
  {
    name: 'growing is not checked against the limits',
    file: 'workspace/shares.ts',
    from: 'if (over !== null) return { error: over };',
    to: '',
  },
  {
    name: 'another worker counts as much as the head',
    file: 'workspace/shares.ts',
    from: 'if (workerVcpus !== undefined) return vcpus + (then - instances) * workerVcpus;',
    to: '',
  },
];
