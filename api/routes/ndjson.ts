// Lines as `application/x-ndjson`, pulled one by one as the reader takes them, so that nothing piles up here. A reader who
// leaves ends the iteration; while nothing comes, an empty line now and then keeps the connection. An error becomes the
// last line and closes the connection, so that half an answer never looks whole.
import { setImmediate } from 'node:timers/promises';

/** `onError` gives the last line. */
export function ndjsonStream(
  lines: AsyncIterable<unknown>,
  options: { leave: () => void; onError: (error: unknown) => unknown; onEnd?: () => void },
) {
  const iterator = lines[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  let awaited: Promise<IteratorResult<unknown>> | null = null;
  let isLeft = false;
  let failed: { error: unknown } | null = null;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (failed !== null) {
        // The last line was read, but stays in the socket until this turn of the event loop has ended.
        await setImmediate();
        return controller.error(failed.error);
      }
      try {
        awaited ??= iterator.next();
        const next = await withinQuiet(awaited);
        // Nothing can be said to who has left, and that they left is no error.
        if (isLeft) return;
        if (next === null) return controller.enqueue(encoder.encode('\n'));
        awaited = null;
        const { done, value } = next;
        if (done === true) {
          options.onEnd?.();
          controller.close();
        } else controller.enqueue(encoder.encode(`${JSON.stringify(value)}\n`));
      } catch (error) {
        if (isLeft) return;
        options.onEnd?.();
        failed = { error };
        controller.enqueue(encoder.encode(`${JSON.stringify(options.onError(error))}\n`));
      }
    },
    async cancel() {
      isLeft = true;
      options.onEnd?.();
      options.leave();
      await iterator.return?.();
    },
  });
}

/** Clients and proxies take a silent connection for a dead one: pages do so after `silentMs` of web/lines.ts. */
const quietMs = 10_000;

/** null when it is still to come. */
async function withinQuiet<T>(promise: Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const quiet = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), quietMs);
  });
  try {
    return await Promise.race([promise, quiet]);
  } finally {
    clearTimeout(timer);
  }
}
