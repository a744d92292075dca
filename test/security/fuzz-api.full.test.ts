// The API against schemathesis, with a fixed number of requests: no answer may be a server error, undocumented, of another shape
// than its schema, or an acceptance of an invalid request. `npm run fuzz:api` runs for longer.
import { describe, expect, it } from 'vitest';

import { fuzzSeed, fuzzTimes } from '../support/fuzz-options.ts';
import { fuzzApi } from './fuzz-api.ts';

/** Random requests for each operation. */
const examples = 10 * fuzzTimes(process.env);

describe('the API, fuzzed from its own document', () => {
  it(
    'answers every request as the document says',
    async ({ skip }) => {
      const result = await fuzzApi({ examples, seconds: null, seed: Math.abs(fuzzSeed(process.env)) });
      if (result === null) return skip('schemathesis cannot be installed: there is no package index');
      if (result.exitCode !== 0 || result.output.includes('"code":"INTERNAL"')) throw new Error(result.output);
      const tested = /Tested: (\d+)/.exec(result.output)?.[1];
      const generated = /(\d+) generated/.exec(result.output)?.[1];
      expect(Number(tested)).toBeGreaterThanOrEqual(35);
      expect(Number(generated)).toBeGreaterThanOrEqual(1_000);
    },
    // For the whole file, on a machine where everything takes ten times as long.
    1_200_000,
  );
});
