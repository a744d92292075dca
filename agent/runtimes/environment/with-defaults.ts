// Completes what a cluster's owner asks for: without Dask in it, an environment could not run a cluster. What was asked for
// by name is left as it was asked for.
import { defaultRequirements } from './default-requirements.ts';
import { normaliseRequirements } from './requirements.ts';

/** In the form that is installed. Rejects what is no requirement. */
export function withDefaults(requirements: readonly string[]): string[] {
  const asked = normaliseRequirements(requirements);
  const names = new Set(asked.map(nameOf));
  const choosesDask = pair.some((name) => names.has(name));
  const added = defaultRequirements
    .filter((each) => !names.has(nameOf(each)))
    // Dask and distributed are released together: the one has to fit the other that was asked for.
    .map((each) => (choosesDask && pair.includes(nameOf(each)) ? nameOf(each) : each));
  return [...asked, ...added];
}

const pair = ['dask', 'distributed'];

const nameOf = (requirement: string): string => /^[a-z0-9-]+/.exec(requirement)?.[0] ?? '';
