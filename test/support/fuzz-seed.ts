// All random inputs of a test run come from one seed, so that the run can be repeated on another day and another machine with
// ROPEWALK_FUZZ_SEED.
import fc from 'fast-check';

import { fuzzSeed } from './fuzz-options.ts';

fc.configureGlobal({ seed: fuzzSeed(process.env) });
