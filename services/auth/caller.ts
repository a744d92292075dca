// Under which name a token's use is counted.
import type { Actor } from '../context.ts';

export const callerOf = ({ workspace, tokenId }: Pick<Actor, 'workspace' | 'tokenId'>): string =>
  `token/${workspace}/${tokenId}`;
