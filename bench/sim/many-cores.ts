// Imported first by a bench's API: a job gets as many local instances as cores allow, and these benches simulate the agents, so
// this machine reports as many cores as they need.
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';

os.availableParallelism = () => 500;
syncBuiltinESMExports();
