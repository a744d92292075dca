// The header of a script is found at its beginning at a small, constant cost, whatever the script.
import { describe, expect, it } from 'vitest';

import { createTestApi, type TestApi } from '../api/support.ts';

describe('the header of a script', () => {
  const encode = (text: string): string => Buffer.from(text).toString('base64');
  const submit = (api: TestApi, script: string) =>
    api.call('POST', '/v1/jobs', { body: { command: ['./a'], files: [{ path: 'a', content: encode(script) }] } });

  it('is searched in the first 64 KiB, and a line that is cut there is not read', async () => {
    const api = await createTestApi();
    const long = `# ${'x'.repeat(65_000)}\n`;
    const wrong = '# ROPEWALK ntasks none\n';
    expect((await submit(api, `${long}${wrong}`)).status).toBe(422);
    expect((await submit(api, `${long}${long}${wrong}`)).status).toBe(201);
    const cut = `# ROPEWALK ntasks ${'1'.repeat(20)}\n`;
    expect((await submit(api, `#${'x'.repeat(65_536 - 22)}\n${cut}`)).status).toBe(201);
  });

  // Each took seconds to hours, in quadratic time, when backtracking expressions searched the whole file.
  it.each([
    ['a carriage return on each line', '\r'.repeat(11_500_000)],
    ['spaces before a line separator', `# ROPEWALK${' '.repeat(60_000)}\u2028x\n`],
    ['an option and spaces before a line separator', `# ROPEWALK a${' '.repeat(60_000)}\u2028x\n`],
    ['many signs of a comment', `${'#'.repeat(60_000)} `.repeat(100)],
    ['a duration of many digits', `# ROPEWALK task-timeout ${'1'.repeat(60_000)}!\n`],
    ['a size of many digits', `# ROPEWALK memory ${'1'.repeat(60_000)}!\n`],
    ['spaces alone', `#${' '.repeat(60_000)}`],
  ])('is read at once from a script with %s', async (_what, script) => {
    expect([201, 422]).toContain((await submit(await createTestApi(), script)).status);
  });
});
