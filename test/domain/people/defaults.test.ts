// How a request and the defaults of its workspace are merged.
import { expect, it } from 'vitest';

import { withDefaults, type WorkspaceDefaults } from '../../../domain/people/defaults.ts';

it.each<[WorkspaceDefaults, WorkspaceDefaults, WorkspaceDefaults]>([
  [{}, { region: 'us-west-2', zone: 'us-west-2b' }, { region: 'us-west-2', zone: 'us-west-2b' }],
  [{ region: 'us-east-1' }, { region: 'us-west-2', zone: 'us-west-2b' }, { region: 'us-east-1' }],
  [{ region: 'us-west-2' }, { region: 'us-west-2', zone: 'us-west-2b' }, { region: 'us-west-2', zone: 'us-west-2b' }],
  [{ allowSsh: false }, { allowSsh: true, allowSshFrom: '10.0.0.0/8' }, { allowSsh: false }],
  [{ allowSshFrom: '10.1.0.0/16' }, { allowSshFrom: '10.0.0.0/8' }, { allowSshFrom: '10.1.0.0/16' }],
  [
    { allowCrossZone: false, spotPolicy: undefined },
    { allowCrossZone: true, spotPolicy: 'spot' },
    { allowCrossZone: false, spotPolicy: 'spot' },
  ],
])('%j with the defaults %j', (asked, defaults, expected) => {
  const { provider: _, ...merged } = withDefaults(asked, defaults);
  expect(Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== undefined))).toEqual(expected);
});
