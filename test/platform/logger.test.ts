// The log's contents for a request or an activity, and the values it never contains. The canary is planted where secrets can be.
import { describe, expect, it } from 'vitest';

import { fieldsOf } from '../../activities/observe.ts';
import { createLogger } from '../../platform/logger.ts';
import { createTestApi } from '../api/support.ts';

const canary = 'canary-4f1c9d';

function recorded() {
  const lines: string[] = [];
  return { lines, logger: createLogger({ level: 'trace', program: 'api', write: (line) => void lines.push(line) }) };
}

describe('the log', () => {
  it('cuts out what is named like a secret, also inside of what is logged', () => {
    const { lines, logger } = recorded();
    logger.info(
      { token: canary, headers: { authorization: canary }, bundle: { env: { A: canary }, kept: 'yes' } },
      'x',
    );
    expect(lines.join('')).toContain('"kept":"yes"');
    expect(lines.join('').match(/\[secret\]/g)).toHaveLength(3);
    expect(lines.join('')).not.toContain(canary);
    // The search itself finds a planted one.
    logger.info({ elsewhere: canary }, 'x');
    expect(lines.join('')).toContain(canary);
  });

  it('keeps of an error its words, code, stack and causes, and nothing that hangs on it', () => {
    const { lines, logger } = recorded();
    const cause = Object.assign(new Error('14 UNAVAILABLE'), { code: 14, metadata: { authorization: canary } });
    logger.error({ err: Object.assign(new Error('no answer', { cause }), { request: { body: canary } }) }, 'failed');
    const { err } = JSON.parse(lines.join(''));
    expect(err).toMatchObject({ message: 'no answer', cause: { message: '14 UNAVAILABLE', code: 14 } });
    expect(lines.join('')).not.toContain(canary);
  });

  it('says whose request it was and what it was about, in every line, and never its secrets', async () => {
    const { lines, logger } = recorded();
    const api = await createTestApi({ logger });
    const number = await api.submit({ command: ['echo', canary], env: { PASSWORD: canary } });
    await api.call('GET', `/v1/jobs/${number}?x=${canary}`);
    api.database.isUnavailable = true;
    await api.call('POST', '/v1/jobs', { body: { command: [canary] } });
    const parsed = lines.map((line) => JSON.parse(line));
    expect(parsed.length).toBeGreaterThanOrEqual(3);
    for (const line of parsed) expect(line).toMatchObject({ process: 'api', requestId: expect.stringMatching(/./) });
    expect(parsed).toContainEqual(
      expect.objectContaining({ path: `/v1/jobs/${number}`, workspace: 'default', job: number, cluster: number }),
    );
    expect(lines.join('')).not.toContain(canary);
    expect(lines.join('')).not.toContain(api.token.split('-').at(-1));
  });
});

describe('what an activity is about', () => {
  it.each([
    [{ owner: { workspace: 'lab', cluster: 7 } }, 'cluster/7', { workspace: 'lab', cluster: 7 }],
    [{ workspace: 'lab', job: 9, page: 0 }, 'job/9', { workspace: 'lab', job: 9 }],
    [{ specRef: 'specs/x' }, 'job/12', { job: 12 }],
    [undefined, undefined, {}],
  ])('%j of %s', (input, workflowId, fields) => {
    expect(fieldsOf(input, workflowId)).toEqual(fields);
  });
});
