// The scopes of the fixture's tokens.
import type { Scope } from '../../domain/people/state.ts';

export const scopesOf = (who: 'readOnly' | 'member'): readonly Scope[] =>
  who === 'readOnly' ? ['read'] : ['read', 'write'];
