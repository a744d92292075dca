// An agent can recognize the API's own errors among the answers of proxies.
import { expect, it } from 'vitest';

import { createTestApi } from './support.ts';
// After the API, which extends zod before any schema is made.
import { ownError } from '../../agent/api-client/own-error.ts';

it('every error of the API proves that it is the API`s', async () => {
  const api = await createTestApi();
  const refused: [status: number, answer: Response][] = [
    [401, await api.call('GET', '/v1/agent/bundle', { token: 'none' })],
    [404, await api.call('GET', '/v1/agent/no-such-path', { token: 'none' })],
  ];
  for (const [status, answer] of refused) {
    expect(answer.status).toBe(status);
    const headers = Object.fromEntries(answer.headers);
    expect(ownError({ headers, text: await answer.text() })).toMatchObject({ message: expect.any(String) });
  }
});
