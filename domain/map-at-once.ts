// A bounded `Promise.all`, for agents, commands and services.

/** Runs `work` on at most `atOnce` items at a time, and returns the results in the items' order. The first error rejects; started work continues. */
export async function mapAtOnce<T, R>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  // Shared iterator: each run takes the next item.
  const rest = items.entries();
  const run = async (): Promise<void> => {
    for (const [index, item] of rest) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, run));
  return results;
}
