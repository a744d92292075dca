// Finds a provider by its name in a specification. The composition root decides which providers exist.
import { RopewalkError } from '../domain/errors.ts';
import type { Provider } from './provider.ts';

/** The returned lookup throws VALIDATION for a provider that this process does not have. */
export function createRegistry(providers: readonly Provider[]): (name: string) => Provider {
  const byName = new Map(providers.map((provider) => [provider.name, provider]));
  return (name) => {
    const provider = byName.get(name);
    if (provider !== undefined) return provider;
    const known = [...byName.keys()].join(', ');
    throw new RopewalkError({
      code: 'VALIDATION',
      message: `This Temporal worker has no provider "${name}": it was started with ${known === '' ? 'none' : known}.`,
      field: 'provider',
      hint: known === '' ? 'Give the worker a provider in its composition root.' : `Use one of: ${known}.`,
    });
  };
}
