// The sidecars of a request, as the head instance's agent reads them.
import { RopewalkError } from '../../domain/errors.ts';
import type { CreateJobParsed } from '../../schema/jobs.ts';
import type { Sidecar } from '../../schema/sidecars.ts';

/** @throws RopewalkError VALIDATION for two of one name, and for what no process can receive. */
export function sidecarsOf({
  schedulerSidecars = [],
  registryAuth = {},
}: Pick<CreateJobParsed, 'schedulerSidecars' | 'registryAuth'>): Sidecar[] {
  const names = new Set<string>();
  return schedulerSidecars.map(({ name, container, command, env, ignoreEntrypoint }, at) => {
    if (names.has(name)) throw invalid(`schedulerSidecars.${at}.name`, `two sidecars have the name ${name}.`);
    names.add(name);
    if ([...command, ...Object.values(env)].some((text) => text.includes('\0')))
      throw invalid(`schedulerSidecars.${at}`, 'a word or variable cannot contain a NUL character.');
    return { name, container: { image: container, ignoreEntrypoint, registryAuth }, command, env };
  });
}

const invalid = (field: string, what: string) =>
  new RopewalkError({ code: 'VALIDATION', field, message: `${field}: ${what}` });
