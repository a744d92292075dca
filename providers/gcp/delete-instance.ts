// Requests the deletion of one instance without waiting for it.
import { again } from './again.ts';
import { answerOf, isNotFound } from './api-errors.ts';
import type { GcpClients } from './clients.ts';
import { operationIn } from './operations.ts';
import type { Operation } from './operations.ts';

/** The delete operation; null when the instance does not exist, `busy` while another operation runs on it. */
export async function requestDelete(
  clients: GcpClients,
  zone: string,
  name: string,
): Promise<Operation | 'busy' | null> {
  try {
    const [answer] = await again(() => clients.instances.delete({ project: clients.project, zone, instance: name }));
    return operationIn(answer);
  } catch (error) {
    if (isNotFound(error)) return null;
    if (answerOf(error)?.code === 'resourceNotReady') return 'busy';
    throw error;
  }
}
