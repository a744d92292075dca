// Imported into the API of a bench before anything else: a job gets as many local instances as cores allow, and the agents
// of these benches are simulated, so that this machine says it has as many as they need.
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';

os.availableParallelism = () => 500;
syncBuiltinESMExports();
