// A cancellation from the Temporal UI has the effect of `stop` or `cancel`: an orderly end that leaves no VM behind. The body runs in a
// non-cancellable scope, and a cancellation calls `onRequest` instead.
import { CancellationScope } from '@temporalio/workflow';

export async function onCancelRequest<T>(onRequest: () => void, body: () => Promise<T>): Promise<T> {
  CancellationScope.current().cancelRequested.catch(onRequest);
  return CancellationScope.nonCancellable(body);
}
