// Every random world of a test run comes from one seed, so that a run is the same tomorrow and on another machine. Other
// worlds are looked for by `npm run fuzz`, and a seed that it names is run again with ROPEWALK_FUZZ_SEED.
import fc from 'fast-check';

import { fuzzSeed } from './fuzz-options.ts';

fc.configureGlobal({ seed: fuzzSeed(process.env) });
