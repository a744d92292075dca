// The Python environment of a specification.
import type { EnvironmentSpec } from '../../schema/software.ts';

export const environment = (
  requirements: string[] = [],
  rest: Partial<Omit<EnvironmentSpec, 'requirements'>> = {},
): EnvironmentSpec => ({
  requirements,
  pinned: false,
  python: null,
  interpreter: null,
  packageFiles: [],
  ...none,
  ...rest,
});

const none = { indexes: [], leftOut: [] };
