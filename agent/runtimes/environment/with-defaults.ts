// Completes what a cluster's owner asks for: without Dask in it, an environment could not run a cluster. What was asked for
// by name is left as it was asked for.
import { defaultRequirements } from './default-requirements.ts';
import { normaliseRequirements } from './requirements.ts';

/** In the form that is installed. Rejects what is no requirement. `pinned`: they are the whole environment of a client. */
export function withDefaults(requirements: readonly string[], pinned = false): string[] {
  const asked = normaliseRequirements(requirements);
  const names = new Set(asked.map(nameOf));
  const choosesDask = pair.some((name) => names.has(name));
  const added = defaultRequirements
    .filter((each) => !names.has(nameOf(each)))
    // Dask warns of what one side of a connection has and the other has not.
    .filter((each) => !pinned || !comparedByDask.includes(nameOf(each)))
    // Dask and distributed are released together: the one has to fit the other that was asked for.
    .map((each) => (choosesDask && pair.includes(nameOf(each)) ? nameOf(each) : each));
  return [...asked, ...added];
}

const pair = ['dask', 'distributed'];
const comparedByDask = ['lz4', 'msgpack'];

const nameOf = (requirement: string): string => /^[a-z0-9-]+/.exec(requirement)?.[0] ?? '';
