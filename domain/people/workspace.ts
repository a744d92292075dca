// Allowed names of workspaces.
import type { Problem } from '../errors.ts';

const slugPattern = /^[a-z0-9][a-z0-9-]{0,39}$/;

/** Null for an allowed slug. */
export const slugProblem = (slug: string): Problem | null => {
  if (slugPattern.test(slug)) return null;
  const message = 'A workspace slug has 1 to 40 characters of a-z, 0-9 and "-", and does not start with "-".';
  return { code: 'VALIDATION', field: 'slug', message };
};
