// Completes what a cluster's owner asks for: without Dask in it, an environment could not run a cluster. What was asked for
// by name is left as it was asked for.
import { defaultRequirements } from './default-requirements.ts';
import { normaliseRequirements } from './requirements.ts';

/**
 * In the form that is installed. Rejects what is no requirement. `pinned`: they are the whole environment of a client. A package
 * that comes as a wheel, as one that the client has from git, is chosen too. `role`: of the instance; a client is as a worker.
 */
export function withDefaults(
  requirements: readonly string[],
  pinned = false,
  packageFiles: readonly { name: string }[] = [],
  role: 'head' | 'worker' = 'worker',
): string[] {
  const asked = normaliseRequirements(requirements);
  const wheels = packageFiles.filter(({ name }) => name.endsWith('.whl'));
  const names = new Set([...asked.map(nameOf), ...wheels.map(({ name }) => packageOf(name))]);
  const choosesDask = pair.some((name) => names.has(name));
  const added = defaultRequirements
    .filter((each) => !names.has(nameOf(each)))
    // Dask warns of what one side of a connection has and the other has not.
    .filter((each) => !pinned || !comparedByDask.includes(nameOf(each)))
    // bokeh brings numpy, which Dask compares between clients and workers. The dashboard is the scheduler's.
    .filter((each) => !pinned || role === 'head' || names.has('numpy') || nameOf(each) !== 'bokeh')
    // Dask and distributed are released together: the one has to fit the other that was asked for.
    .map((each) => (choosesDask && pair.includes(nameOf(each)) ? nameOf(each) : each));
  return [...asked, ...added];
}

const pair = ['dask', 'distributed'];
const comparedByDask = ['lz4', 'msgpack'];

/** The first part of a wheel's name (the binary distribution format of packaging.python.org). */
const packageOf = (wheel: string): string => wheel.slice(0, wheel.indexOf('-')).toLowerCase().replace(/[._]+/g, '-');

const nameOf = (requirement: string): string => /^[a-z0-9-]+/.exec(requirement)?.[0] ?? '';
