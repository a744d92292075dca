/** The emulator's time: real time, moved forward at will. */
export interface Clock {
  nowMs(): number;
  advance(ms: number): void;
}

export function createClock(): Clock {
  let offsetMs = 0;
  return {
    nowMs: () => Date.now() + offsetMs,
    advance: (ms) => {
      offsetMs += ms;
    },
  };
}
