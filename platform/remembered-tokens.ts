// Agents show the same token with each message, and checking a signature costs more than the rest of the message: what was
// found good is remembered until it expires. What was refused is not remembered, and nothing is accepted that was not checked.
import type { Tokens } from './tokens.ts';

/** The same tokens, with the last `maxRemembered` instance tokens remembered. */
export function rememberInstanceTokens(tokens: Tokens, now: () => number = Date.now): Tokens {
  const known = new Map<string, Awaited<ReturnType<Tokens['verifyInstance']>>>();
  return {
    ...tokens,
    verifyInstance: async (token) => {
      const found = known.get(token);
      if (found !== undefined && now() < found.expiresAtMs) return { ...found };
      known.delete(token);
      const verified = await tokens.verifyInstance(token);
      // Those that came first go first: an agent that still speaks is checked again, and comes back.
      const [oldest] = known.size < maxRemembered ? [] : known.keys();
      if (oldest !== undefined) known.delete(oldest);
      known.set(token, verified);
      return { ...verified };
    },
  };
}

const maxRemembered = 10_000;
