// Reads the recorded changes of a cluster in order. A long history is never completely in memory.
import type { Moment } from '../../domain/cluster/history.ts';
import { maxTimeMs } from '../../domain/requests/limits.ts';
import type { Store } from '../../store/store.ts';

export interface HistoryQuery {
  cluster: number;
  untilMs?: number;
  /** Only changes with greater numbers. */
  after?: number;
}

export async function* readHistory(
  { history }: Pick<Store, 'history'>,
  { cluster, untilMs = maxTimeMs, after = 0 }: HistoryQuery,
): AsyncGenerator<Moment> {
  let last = after;
  for (;;) {
    const page = await history.page({ cluster, untilMs, after: last });
    if (page.length === 0) return;
    for (const moment of page) {
      last = moment.seq;
      yield moment;
    }
  }
}
