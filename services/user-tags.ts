// Checks a user's own instance tags against the rules of all clouds; EC2's rules are the strictest ones enforced here.
import { RopewalkError } from '../domain/errors.ts';

/** EC2 allows 50; the others are Ropewalk's own. */
const maxTags = 40;
const maxKey = 128;
const maxValue = 256;
const allowed = /^[\p{L}\p{N}\p{Z}+\-=._:/@]*$/u;

/** Null when there are none. @throws RopewalkError VALIDATION that names each invalid tag. */
export function readTags(tags: Record<string, string>): Record<string, string> | null {
  const entries = Object.entries(tags);
  if (entries.length === 0) return null;
  const problems = entries.flatMap(([key, value]) => problemOf(key, value) ?? []);
  if (entries.length > maxTags) problems.push(`${entries.length} tags are more than ${maxTags}`);
  if (problems.length === 0) return tags;
  throw new RopewalkError({
    code: 'VALIDATION',
    field: 'tags',
    message: `tags: ${problems.join('; ')}.`,
    hint: `Letters, digits, spaces and + - = . _ : / @, keys of at most ${maxKey} characters, values of at most ${maxValue}.`,
  });
}

function problemOf(key: string, value: string): string | null {
  const shown = JSON.stringify(key.slice(0, 40));
  if (key === '' || key.length > maxKey || !allowed.test(key)) return `${shown} cannot be the key of a tag`;
  if (/^(aws:|ropewalk:|name$)/i.test(key)) return `${shown} is set by the cloud or by Ropewalk itself`;
  return value.length > maxValue || !allowed.test(value) ? `the value of ${shown} cannot be that of a tag` : null;
}
