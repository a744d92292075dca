// Providers are found by name; an unknown name is the caller's error and lists the known ones.
import { expect, it } from 'vitest';

import { RopewalkError } from '../../domain/errors.ts';
import { createLocalProvider } from '../../providers/local/provider.ts';
import { createRegistry } from '../../providers/registry.ts';

it('finds a provider by its name and refuses others', () => {
  const local = createLocalProvider({ home: '/nowhere', agentBundle: 'a', nodePath: 'n', maxInstances: 1 });
  const find = createRegistry([local]);
  expect(find('local')).toBe(local);
  expect(() => find('moon')).toThrow(RopewalkError);
  expect(() => find('moon')).toThrow(/"moon".*local/);
});
