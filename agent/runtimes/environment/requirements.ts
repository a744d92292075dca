// Requirements as people write them (PEP 508), validated and sorted, so that equal requirements have one name however they are
// written. Options and paths are refused: requirements must be names, never flags.
import { maxRequirements } from '../../../domain/software/limits.ts';
import { withoutUrlSecrets } from '../../../domain/software/url-text.ts';
import { EnvironmentError } from './errors.ts';

const maxLength = 1_000;

/** Sorted and unique, in the form that is hashed and installed. */
export function normaliseRequirements(requirements: readonly string[]): string[] {
  if (requirements.length > maxRequirements) {
    throw new EnvironmentError('REQUIREMENT', `At most ${maxRequirements} requirements, not ${requirements.length}.`);
  }
  return [...new Set(requirements.map(normalise))].sort();
}

/** The requirements whose package name occurs in `text`, uv's complaint. */
export function namedIn(text: string, normalised: readonly string[]): string[] {
  const words = new Set(text.split(/[^A-Za-z0-9._-]+/).map((word) => canonical(word.replace(/[.]+$/, ''))));
  return normalised.filter((requirement) => words.has(/^[a-z0-9-]+/.exec(requirement)?.[0] ?? ''));
}

function normalise(requirement: string, index: number): string {
  const text = requirement.replace(/(^|\s)#.*$/, '').trim();
  const refuse = (why: string): never => {
    const shown = JSON.stringify(withoutUrlSecrets(text).slice(0, 100));
    throw new EnvironmentError('REQUIREMENT', `requirements[${index}] is ${shown}: ${why}.`, {
      requirements: [withoutUrlSecrets(text)],
    });
  };
  // uv would fill in braces from its environment, and join a line that ends with a backslash to the next.
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[\u0000-\u001f\u007f\\]|\$\{/.test(text)) refuse('line breaks, backslashes and ${...} are not taken');
  if (text.length > maxLength) refuse(`at most ${maxLength} characters are taken`);
  const parts = /^([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[([^\]]*)\])?\s*(.*)$/.exec(text);
  const [, name = '', extras, rest = ''] = parts ?? [];
  if (parts === null || !/^($|[<>=!~@;(])/.test(rest)) {
    refuse('write the name of a package, with a version if it matters, as in "dask==2026.8.0"');
  }
  const wanted = [...new Set((extras ?? '').split(',').map((extra) => canonical(extra.trim())))].filter(Boolean).sort();
  return `${canonical(name)}${wanted.length === 0 ? '' : `[${wanted.join(',')}]`}${tidyRest(rest)}`;
}

/** PEP 503: case and the kind of separator are irrelevant. */
const canonical = (name: string): string => name.toLowerCase().replaceAll(/[-_.]+/g, '-');

/** Spaces around versions are irrelevant; a URL and the text after it keep theirs. */
function tidyRest(rest: string): string {
  const collapsed = rest.replaceAll(/\s+/g, ' ').trim();
  if (collapsed.startsWith('@')) return ` @ ${collapsed.slice(1).trim()}`;
  const [versions = '', ...marker] = collapsed.split(';');
  const text = versions
    .replaceAll(' ', '')
    .replace(/^\((.*)\)$/, '$1')
    .split(',')
    .sort()
    .join(',');
  return marker.length === 0 ? text : `${text} ; ${marker.join(';').trim()}`;
}
