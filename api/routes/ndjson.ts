// Lines as `application/x-ndjson`, pulled one by one as the reader reads them, so nothing accumulates here. A reader who disconnects ends the
// iteration; while no line arrives, empty lines keep the connection alive. An error becomes the last line and closes the connection, so a partial
// response never looks complete.
import { setImmediate } from 'node:timers/promises';

import { JsonLine } from '../../services/live/json-line.ts';

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
        // The last line was pulled, but stays in the socket until this turn of the event loop ends.
        await setImmediate();
        return controller.error(failed.error);
      }
      try {
        awaited ??= iterator.next();
        const next = await withinQuiet(awaited);
        // A disconnected reader cannot receive anything, and the disconnection is no error.
        if (isLeft) return;
        if (next === null) return controller.enqueue(encoder.encode('\n'));
        awaited = null;
        const { done, value } = next;
        if (done === true) {
          options.onEnd?.();
          controller.close();
        } else
          controller.enqueue(value instanceof JsonLine ? value.bytes : encoder.encode(`${JSON.stringify(value)}\n`));
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

/** Clients and proxies treat a silent connection as dead; pages do so after `silentMs` of web/lines.ts. */
const quietMs = 10_000;

/** Null while the promise is pending. */
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
