// The access token of the instance's service account, which the metadata server issues and renews.
import { z } from 'zod';

import type { Metadata } from './metadata.ts';

export interface AccessToken {
  /** Valid for some minutes at least; null when the instance has no service account. */
  get(): Promise<string | null>;
  /** Discards a refused token; the next `get` reads a new one. */
  forget(): void;
}

const answer = z.object({ access_token: z.string(), expires_in: z.number() });
/** The metadata server has a new token well before the old one expires. */
const renewBeforeMs = 5 * 60_000;

export function createAccessToken(metadata: Metadata): AccessToken {
  let known: { text: string; untilMs: number } | null = null;
  return {
    get: async () => {
      if (known !== null && performance.now() < known.untilMs) return known.text;
      const text = await metadata.read('instance/service-accounts/default/token');
      if (text === null) return null;
      const { access_token: accessToken, expires_in: seconds } = answer.parse(JSON.parse(text));
      known = { text: accessToken, untilMs: performance.now() + seconds * 1_000 - renewBeforeMs };
      return accessToken;
    },
    forget: () => (known = null),
  };
}
