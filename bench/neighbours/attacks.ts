// The requests that cost the API most per byte.

export interface Attack {
  name: string;
  method?: 'GET' | 'POST';
  path: string;
  body?: string;
  /** Concurrent requests; each is followed by the next one at once, or after `pauseMs`. */
  atOnce: number;
  pauseMs?: number;
}

const script = (text: string): string =>
  JSON.stringify({ command: ['./a'], files: [{ path: 'a', content: Buffer.from(text).toString('base64') }] });

export function attacksOn(job: number): Attack[] {
  const plan = { method: 'POST', path: '/v1/plans/jobs' } as const;
  const submit = { method: 'POST', path: '/v1/jobs' } as const;
  const options = Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`none-${n}`, '']));
  const inputFiles = Array.from({ length: 8_000 }, (_, n) => ({
    ...{ path: `${'a/'.repeat(190)}${n}`, sha256: '0'.repeat(64), bytes: 1 },
  }));
  const variables = `[${'{"A":"1"},'.repeat(300_000)}{"A":"1"}]`;
  return [
    { name: 'reads of lists, 50 at once', path: '/v1/jobs', atOnce: 50 },
    {
      name: 'a script of 11.5 MB of carriage returns, each second',
      ...submit,
      body: script('\r'.repeat(11_500_000)),
      atOnce: 1,
      pauseMs: 1_000,
    },
    {
      name: 'a duration of 60,000 digits in a header',
      ...plan,
      body: script(`# ROPEWALK task-timeout ${'1'.repeat(60_000)}!\n`),
      atOnce: 4,
    },
    { name: '200 unknown options', ...plan, body: JSON.stringify({ command: ['true'], options }), atOnce: 4 },
    { name: '8,000,000 levels of JSON', ...submit, body: `{"command":${'['.repeat(8_000_000)}`, atOnce: 2 },
    {
      name: '8,000 input files of 190 levels',
      ...plan,
      body: JSON.stringify({ command: ['true'], inputFiles }),
      atOnce: 2,
    },
    {
      name: '300,000 sets of variables',
      ...plan,
      body: `{"command":["true"],"mapOver":{"variables":${variables}}}`,
      atOnce: 2,
    },
    {
      name: 'logs of 60 MB of which no line is wanted, 20 at once',
      path: `/v1/jobs/${job}/logs?since=2100-01-01T00:00:00Z`,
      atOnce: 20,
    },
  ];
}
