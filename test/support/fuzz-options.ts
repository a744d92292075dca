// The randomness of a test run. ROPEWALK_FUZZ_SEED chooses the inputs, ROPEWALK_SIMULATION_RUNS the number of runs of each
// simulation, and ROPEWALK_FUZZ_TIMES multiplies the other random inputs.

/** The same inputs in every `npm test`. `npm run test:all` chooses another seed and prints it. */
const usualSeed = 20_260_601;
const usualRuns = 500;

export function fuzzSeed(env: NodeJS.ProcessEnv): number {
  return whole(env, 'ROPEWALK_FUZZ_SEED', usualSeed);
}

export function simulationRuns(env: NodeJS.ProcessEnv): number {
  return Math.max(1, whole(env, 'ROPEWALK_SIMULATION_RUNS', usualRuns));
}

export function fuzzTimes(env: NodeJS.ProcessEnv): number {
  return Math.max(1, whole(env, 'ROPEWALK_FUZZ_TIMES', 1));
}

function whole(env: NodeJS.ProcessEnv, name: string, usual: number): number {
  const text = env[name];
  if (text === undefined || text === '') return usual;
  const value = Number(text);
  // fast-check takes seeds of 32 bits.
  if (Number.isInteger(value) && Math.abs(value) <= 0x7fff_ffff) return value;
  throw new Error(`${name} must be a whole number of at most ${0x7fff_ffff}, not "${text}"`);
}
