// One builder in a process of its own: prints each stage as it begins, then its result, one JSON value a line. At the stage that
// the third argument names it stops permanently, to be killed there.
import { writeSync } from 'node:fs';

import { ensureEnvironment } from '../../agent/runtimes/environment/environment.ts';

const [cacheDir = '', pythonPath = '', holdAt = '', ...requirements] = process.argv.slice(2);
const print = (value: unknown): void => {
  writeSync(1, `${JSON.stringify(value)}\n`);
};
const onStage = (stage: string): void => {
  print({ stage });
  if (stage === holdAt) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
};
print(await ensureEnvironment({ cacheDir, requirements, pythonPath, environment: process.env, onStage }));
