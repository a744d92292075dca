// Pages of lists. `await` a list call for one page; `for await` it for every item.

export interface Page<T> {
  items: T[];
  /** Pass it as `after` to get the next page; null on the last page. */
  next: string | null;
}

export type Paged<T> = Promise<Page<T>> & AsyncIterable<T>;

/** `fetchPage` is called immediately for the first page, and for each later page when the iteration reaches it. */
export function createPaged<T>(fetchPage: (after: string | undefined) => Promise<Page<T>>, after?: string): Paged<T> {
  const first = fetchPage(after);
  return Object.assign(first, {
    async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
      let page = await first;
      for (;;) {
        yield* page.items;
        if (page.next === null) return;
        page = await fetchPage(page.next);
      }
    },
  });
}
