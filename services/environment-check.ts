// Checks users' environment variables. Errors never contain values, because they may be secrets.
import { RopewalkError } from '../domain/errors.ts';

/** A NUL cannot be passed to a process, and Ropewalk's own variables must keep their meaning. */
export function checkEnvironment(environment: {
  env: Readonly<Record<string, string>>;
  secretEnv: Readonly<Record<string, string>>;
}): void {
  const { env, secretEnv } = environment;
  for (const [field, values] of Object.entries({ env, secretEnv })) {
    for (const [name, value] of Object.entries(values)) {
      const path = `${field}.${name}`;
      if (value.includes('\0')) throw invalid(path, 'a value cannot contain a NUL character');
      if (reservedName.test(name)) {
        const hint = 'Choose a name that does not start with ROPEWALK_ or COILED_.';
        throw invalid(path, 'Ropewalk sets this variable itself', hint);
      }
    }
  }
}

const reservedName = /^(?:ROPEWALK|COILED)_/;

const invalid = (field: string, why: string, hint?: string) =>
  new RopewalkError({
    code: 'VALIDATION',
    field,
    message: `${field}: ${why}.`,
    ...(hint === undefined ? {} : { hint }),
  });
