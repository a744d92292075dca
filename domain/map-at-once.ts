// `Promise.all` with a bound, for agents, commands and services alike.

/** Runs `work` on at most `atOnce` items at a time. Answers in their order. The first error rejects; what has begun goes on. */
export async function mapAtOnce<T, R>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  // Shared: each run takes the next item.
  const rest = items.entries();
  const run = async (): Promise<void> => {
    for (const [index, item] of rest) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, run));
  return results;
}
