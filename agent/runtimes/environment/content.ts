// The content of an environment, and the name derived from it: the same content on the same interpreter is the same directory.
import { createHash } from 'node:crypto';

import { type EnvironmentContent, lockFor } from './default-lock.ts';
import type { Python } from './python.ts';

/** Incremented when the layout or build of environments changes; older ones are then not used again. */
export const formatNumber = 4;

/** The name of the environment with this content and interpreter. */
export function environmentHash(content: EnvironmentContent, python: Python): string {
  const { requirements, pinned, packageFiles, indexes } = content;
  const lock = lockFor(content);
  const files = packageFiles.map(({ name, sha256 }) => `${name} ${sha256}`).sort();
  const places = indexes.map((index) => `${index.default ? 'default' : 'extra'} ${index.url}`);
  const named = [formatNumber, python.version, python.platform, requirements, pinned, files, places];
  return digest(JSON.stringify(lock.length === 0 ? named : [...named, digest(lock.join('\n'))]));
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');
