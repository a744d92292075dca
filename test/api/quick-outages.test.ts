// While Temporal is unavailable, callers wait for less than its client's retries; one slow workflow is no outage.
import { describe, expect, it, vi } from 'vitest';

import { RopewalkError } from '../../domain/errors.ts';
import { withQuickOutages } from '../../services/quick-outages.ts';
import { eventually } from '../support/eventually.ts';
import { createTestApi } from './support.ts';

const unavailable = () => new RopewalkError({ code: 'UNAVAILABLE', message: 'no answer in time' });

async function setUp({ isReachable }: { isReachable: boolean }) {
  const api = await createTestApi();
  const { port } = api.workflows;
  const check = vi.spyOn(port, 'isReachable').mockResolvedValue(isReachable);
  const query = vi.spyOn(port, 'query').mockRejectedValueOnce(unavailable());
  const workflows = withQuickOutages(port);
  await expect(workflows.query('job/1', 'view')).rejects.toThrow('no answer in time');
  await eventually(() => check.mock.results.length === 1);
  return { query, workflows };
}

describe('a call that Temporal does not answer', () => {
  it('makes the next ones short, until one succeeds', async () => {
    const { query, workflows } = await setUp({ isReachable: false });
    const late = Promise.withResolvers<{ kind: 'missing' }>();
    query.mockReturnValueOnce(late.promise);
    await expect(workflows.query('job/1', 'view')).rejects.toThrow('Temporal cannot be reached');
    late.resolve({ kind: 'missing' });
    await late.promise;
    const slow = Promise.withResolvers<{ kind: 'missing' }>();
    query.mockReturnValueOnce(slow.promise);
    const waiting = workflows.query('job/1', 'view');
    setTimeout(() => slow.resolve({ kind: 'missing' }), 400);
    expect(await waiting).toEqual({ kind: 'missing' });
  });

  it('changes nothing for others when Temporal itself is well', async () => {
    const { query, workflows } = await setUp({ isReachable: true });
    const slow = Promise.withResolvers<{ kind: 'missing' }>();
    query.mockReturnValueOnce(slow.promise);
    const waiting = workflows.query('job/2', 'view');
    setTimeout(() => slow.resolve({ kind: 'missing' }), 400);
    expect(await waiting).toEqual({ kind: 'missing' });
  });
});
