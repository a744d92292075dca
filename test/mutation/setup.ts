// As in `npm test`, but a failed simulation is not shrunk: one failure is enough to kill a mutant.
import fc from 'fast-check';

import { fuzzSeed } from '../support/fuzz-options.ts';

fc.configureGlobal({ seed: fuzzSeed(process.env), endOnFailure: true });
