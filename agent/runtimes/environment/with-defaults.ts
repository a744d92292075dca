// Completes the cluster owner's requirements: without Dask an environment could not run a cluster. Explicit requirements are
// unchanged.
import { defaultRequirements } from './default-requirements.ts';
import { normaliseRequirements } from './requirements.ts';

/**
 * Returns the form that is installed. Rejects invalid requirements. `pinned`: they are the whole environment of a client. A
 * package that comes as a wheel, such as a client's git install, counts as chosen. `role` is the instance's; a client counts as
 * a worker.
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
    // Dask warns about packages that only one side of a connection has.
    .filter((each) => !pinned || !comparedByDask.includes(nameOf(each)))
    // bokeh requires numpy, which Dask compares between clients and workers. Only the scheduler needs the dashboard.
    .filter((each) => !pinned || role === 'head' || names.has('numpy') || nameOf(each) !== 'bokeh')
    // Dask and distributed are released together: one must match the requested other.
    .map((each) => (choosesDask && pair.includes(nameOf(each)) ? nameOf(each) : each));
  return [...asked, ...added];
}

const pair = ['dask', 'distributed'];
const comparedByDask = ['lz4', 'msgpack'];

/** The first part of a wheel's name (the binary distribution format of packaging.python.org). */
const packageOf = (wheel: string): string => wheel.slice(0, wheel.indexOf('-')).toLowerCase().replace(/[._]+/g, '-');

const nameOf = (requirement: string): string => /^[a-z0-9-]+/.exec(requirement)?.[0] ?? '';
