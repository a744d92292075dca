// The faults of an emulated cloud.
import type { CloudEmulator, CloudOrder, CloudUnderTest } from '../../support/clouds.ts';

const everyMs = 1_500;

/**
 * Changes every moment; no fault is worse than a real cloud's, and each hits the next call. The next change clears the faults
 * that no call has met: kept for rare calls, they would add up to a cloud that never answers.
 */
export function weather(
  emulator: Pick<CloudEmulator, 'send'>,
  random: () => number,
  { calls, throttling }: { calls: readonly [string, ...string[]]; throttling: CloudUnderTest['throttling'] },
): () => Promise<void> {
  const send = (order: CloudOrder): Promise<void> => emulator.send(order).catch(() => undefined);
  const pick = <const T>(from: readonly [T, ...T[]]): T => from[Math.floor(random() * from.length)] ?? from[0];
  const throttled = { ...throttling, message: 'Request limit exceeded.', times: 3 };
  const change = async (): Promise<void> => {
    await send({ op: 'clearFaults' });
    for (const action of calls) await send({ op: 'loseAnswers', action, share: 0.1, seed: Math.floor(random() * 1e9) });
    const kind = pick(['lost', 'cut', 'error']);
    await send({ op: 'fault', fault: { action: pick(calls), kind, ...(kind === 'error' ? throttled : {}) } });
    await send({ op: 'delays', visibleMs: pick([0, 1_000, 4_000]), shutdownMs: random() * 1_500 });
  };
  let changing = change();
  const timer = setInterval(() => (changing = changing.then(change)), everyMs);
  return async () => {
    clearInterval(timer);
    await changing;
    await send({ op: 'clearFaults' });
    await send({ op: 'delays', visibleMs: 0, shutdownMs: 0 });
  };
}
