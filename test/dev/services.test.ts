// Settings of the operator's environment that the one-machine stack does not use.
import { describe, expect, it } from 'vitest';

import { ignoredProviders } from '../../dev/services.ts';

describe('ROPEWALK_PROVIDERS in the environment of ropewalk dev', () => {
  it.each([{}, { ROPEWALK_PROVIDERS: '' }, { ROPEWALK_PROVIDERS: 'local' }])('is silent: %j', (env) => {
    expect(ignoredProviders(env, ['local'])).toBeNull();
  });

  it.each(['gcp', 'gcp,local', 'aws'])('is ignored with a warning: %s', (named) => {
    expect(ignoredProviders({ ROPEWALK_PROVIDERS: named }, ['local'])).toBe(
      `ROPEWALK_PROVIDERS=${named} is ignored: "ropewalk dev" runs the local provider only. For a cloud, see docs/operations.md`,
    );
  });
});
