// How random the random worlds are: ROPEWALK_FUZZ_SEED chooses them, ROPEWALK_FUZZ_TIMES multiplies how many there are.

const usualSeed = 20_260_601;

export function fuzzSeed(env: NodeJS.ProcessEnv): number {
  return whole(env, 'ROPEWALK_FUZZ_SEED', usualSeed);
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
