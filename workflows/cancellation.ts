// Cancelling one of our workflows from the Temporal UI means what `stop` or `cancel` means: an orderly end, never a VM
// left behind. The body runs where cancellation cannot reach it, and `onRequest` is called instead.
import { CancellationScope } from '@temporalio/workflow';

export async function onCancelRequest<T>(onRequest: () => void, body: () => Promise<T>): Promise<T> {
  CancellationScope.current().cancelRequested.catch(onRequest);
  return CancellationScope.nonCancellable(body);
}
