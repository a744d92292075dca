// All random inputs of a test run come from one seed: ROPEWALK_FUZZ_SEED repeats the run on another day and another machine.
import fc from 'fast-check';

import { fuzzSeed } from './fuzz-options.ts';

fc.configureGlobal({ seed: fuzzSeed(process.env) });
