// Describes a value outside its bounds, in words that follow the name of its field.
import type { z } from 'zod';

type Issue = z.core.$ZodIssue;

/** Null for other problems, and where the schema has its own message. */
export function describeBound(issue: Issue): string | null {
  if (!/^Too (?:small|big): /.test(issue.message)) return null;
  if (issue.code === 'too_small')
    return sentence(issue, issue.minimum, issue.inclusive === false ? 'more than' : 'at least');
  if (issue.code === 'too_big')
    return sentence(issue, issue.maximum, issue.inclusive === false ? 'less than' : 'at most');
  return null;
}

function sentence(
  { origin, exact }: { origin: string; exact?: boolean | undefined },
  bound: number | bigint,
  side: string,
) {
  const amount = `${exact === true ? 'exactly' : side} ${bound}`;
  const [unit, units] = counted.get(origin) ?? [];
  if (unit === undefined) return `must be ${amount}`;
  return `must have ${amount} ${Number(bound) === 1 ? unit : units}`;
}

const counted = new Map([
  ['string', ['character', 'characters']],
  ['array', ['item', 'items']],
  ['set', ['item', 'items']],
]);
