// Lines as `application/x-ndjson`, pulled one by one as the reader takes them, so that nothing piles up here. A reader who
// leaves ends the iteration; an error cuts the connection, so that half an answer never looks whole.

export function ndjsonStream(
  lines: AsyncIterable<unknown>,
  options: { leave: () => void; onError: (error: unknown) => void },
) {
  const iterator = lines[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await iterator.next();
        if (done === true) controller.close();
        else controller.enqueue(encoder.encode(`${JSON.stringify(value)}\n`));
      } catch (error) {
        options.onError(error);
        controller.error(error);
      }
    },
    async cancel() {
      options.leave();
      await iterator.return?.();
    },
  });
}
