// Explains why no task of an admitted job has started yet, from the state of its instances.
import type { Reason } from '../reason.ts';
import { registeredText } from '../units.ts';

interface NotStarted {
  number: number;
  instances: number;
  submittedAtMs: number;
}

/** `cluster`: null until it exists. */
export function notStartedReason(
  { number, instances, submittedAtMs }: NotStarted,
  cluster: { instances: readonly { state: string }[] } | null,
): Reason {
  const ready = cluster?.instances.filter(({ state }) => state === 'ready').length ?? 0;
  const registered = registeredText(ready, instances);
  if (ready === 0) return { code: 'WAITING_FOR_INSTANCES', text: `${registered}.`, atMs: submittedAtMs };
  return {
    code: 'PREPARING',
    text: `${registered}. Tasks start when what they run in is prepared, such as the Python environment: \`ropewalk batch logs ${number} --instances\`.`,
    atMs: submittedAtMs,
  };
}
