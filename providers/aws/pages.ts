// Reads the pages of a list, each within the rate limit of reads.
import type { AwsClients } from './clients.ts';

export async function* readPages<Page>(
  { limiter }: Pick<AwsClients, 'limiter'>,
  pages: AsyncGenerator<Page, unknown>,
): AsyncGenerator<Page> {
  for (;;) {
    const next = await limiter.run('read', () => pages.next());
    if (next.done === true) return;
    yield next.value;
  }
}
