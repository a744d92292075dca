// What the tokens of the test world may do.
import type { Scope } from '../../domain/people/state.ts';

export const scopesOf = (who: 'readOnly' | 'member'): readonly Scope[] =>
  who === 'readOnly' ? ['read'] : ['read', 'write'];
