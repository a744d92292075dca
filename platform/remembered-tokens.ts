// Caches verified tokens until they expire: agents send the same token with each message, and verifying a signature costs more
// than the rest of the message. Refused tokens are not cached, and no unverified token is accepted.
import type { Tokens } from './tokens.ts';

/** The same tokens, with the last `maxRemembered` instance tokens cached. */
export function rememberInstanceTokens(tokens: Tokens, now: () => number = Date.now): Tokens {
  const known = new Map<string, Awaited<ReturnType<Tokens['verifyInstance']>>>();
  return {
    ...tokens,
    verifyInstance: async (token) => {
      const found = known.get(token);
      if (found !== undefined && now() < found.expiresAtMs) return { ...found };
      known.delete(token);
      const verified = await tokens.verifyInstance(token);
      // Removes the oldest entry; an agent that is still active is verified again and cached again.
      const [oldest] = known.size < maxRemembered ? [] : known.keys();
      if (oldest !== undefined) known.delete(oldest);
      known.set(token, verified);
      return { ...verified };
    },
  };
}

const maxRemembered = 10_000;
