// An API in memory behind a real HTTP server, for a fuzzer: held requests end by themselves after a few moments. Prints its
// address and tokens as one line of JSON; ends with its standard input.
import { serve } from '@hono/node-server';

import { z } from 'zod';

import { createFixture } from './fixture.ts';

const answered = z.object({ msg: z.literal('answered'), method: z.string(), path: z.string(), status: z.number() });
const fixture = await createFixture();
const { app } = fixture.api;

const fetch = (request: Request): Response | Promise<Response> => {
  if (isOwnEnd.test(new URL(request.url).pathname)) return Response.json(noSuch, { status: 404 });
  const isHeld = request.method === 'GET' && /follow=true|\/agent\/orders/.test(request.url);
  if (!isHeld) return app.fetch(request);
  return app.fetch(new Request(request.url, { headers: request.headers, signal: AbortSignal.timeout(heldMs) }));
};
const heldMs = 100;
/** The fuzzer takes ids from answers, and would eventually revoke its own token. */
const isOwnEnd = new RegExp(`^/v1/(users/root|tokens/${fixture.people.admin.split('_')[2]?.split('-')[0]}/revoke)$`);
const noSuch = { error: { code: 'NOT_FOUND', message: 'There is none.', requestId: 'own-end' } };

const server = serve({ fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) => {
  const { people, agents } = fixture;
  const tokens = { API_TOKEN: people.admin, LAUNCH_TOKEN: agents.launch, INSTANCE_TOKEN: agents.dask };
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}`, tokens })}\n`);
});
process.stdin.on('end', () => {
  // How often each route returned each status.
  const lines = fixture.api.logged.map((each) => answered.safeParse(JSON.parse(each)));
  const tally = new Map<string, number>();
  for (const { data } of lines) {
    if (data === undefined) continue;
    const what = `${data.status} ${data.method} ${data.path.replace(/\/(\d+|[a-z0-9]{12}|[0-9a-f]{64})(?=\/|$)/, '/{}')}`;
    tally.set(what, (tally.get(what) ?? 0) + 1);
  }
  process.stderr.write(`${JSON.stringify({ tally: Object.fromEntries(tally) })}\n`);
  // The API's own errors are in the log, for the reader of the fuzzer's report.
  for (const line of fixture.api.logged.filter((each) => each.includes('"level":50'))) process.stderr.write(line);
  if ('closeAllConnections' in server) server.closeAllConnections();
  server.close();
  process.exit();
});
process.stdin.resume();
