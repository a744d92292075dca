// Whether an API process uses the database: each notes every few seconds that it listens.
import { RopewalkError } from '../domain/errors.ts';
import { replicaNoteEveryMs } from '../domain/liveness/replicas.ts';
import type { Store } from '../store/store.ts';

/** @throws RopewalkError CONFLICT while one runs, or was killed a moment ago. */
export async function requireStoppedApi({
  liveness,
}: {
  liveness: Pick<Store['liveness'], 'replicas'>;
}): Promise<void> {
  const running = (await liveness.replicas()).filter(({ wroteAgoMs }) => wroteAgoMs < endedAfterMs);
  const [first] = running;
  if (first === undefined) return;
  throw new RopewalkError({
    code: 'CONFLICT',
    message: `an API process of this deployment runs (${running.map(({ replica }) => replica).join(', ')}); nothing was changed`,
    hint: `Stop the API and the Temporal workers. After a SIGKILL, wait ${endedAfterMs / 1_000} s.`,
  });
}

const endedAfterMs = 3 * replicaNoteEveryMs;
