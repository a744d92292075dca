// Applies the rules of people, and converts their refusals to errors.
import { RopewalkError } from '../../domain/errors.ts';
import type { By } from '../../domain/people/state.ts';
import type { Answer } from '../../store/answer.ts';
import type { Actor } from '../context.ts';

export const byOf = ({ user, tokenId }: Actor): By => ({ user, tokenId });

export function orRefused<T>(answer: Answer<T>): T {
  if ('error' in answer) throw new RopewalkError(answer.error);
  return answer.ok;
}
