// What the client of Temporal throws, and what that means here. A workflow that continues as new is open all the while.
import { Client, Connection, QueryRejectedError, ServiceError } from '@temporalio/client';
import { afterAll, describe, expect, it, vi } from 'vitest';

import { createTemporalPort } from '../../services/temporal-port.ts';

const status = { completed: 2, continuedAsNew: 6 } as const;
const connection = Connection.lazy({ address: '127.0.0.1:1' });
afterAll(() => connection.close());

describe('a query', () => {
  it('is asked again of the next run when the one it was on its way to continued as new', async () => {
    const { port, query } = portWith(() => query.mock.calls.length > 2 || rejected(status.continuedAsNew));
    expect(await port.query('workspace/default', 'view')).toEqual({ kind: 'value', value: true });
    expect(query).toHaveBeenCalledTimes(3);
  });

  it('says of a workflow that is over that it is', async () => {
    const { port } = portWith(() => rejected(status.completed));
    expect(await port.query('job/1', 'view')).toEqual({ kind: 'closed' });
  });

  it('is not asked again for ever', async () => {
    const { port } = portWith(() => {
      vi.advanceTimersByTime(100);
      return rejected(status.continuedAsNew);
    });
    vi.useFakeTimers();
    try {
      await expect(port.query('job/1', 'view')).rejects.toMatchObject({ problem: { code: 'UNAVAILABLE' } });
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('an update', () => {
  it('whose workflow task failed, as it does when its run was to continue as new, may be repeated', async () => {
    const text =
      '9 FAILED_PRECONDITION: Unable to perform workflow execution update due to unexpected workflow task failure.';
    const cause = Object.assign(new Error(text), { code: 9, details: text, metadata: {} });
    const { port } = portWith(() => {
      throw new ServiceError('Workflow Update failed', { cause });
    });
    const options = { updateId: 'u', deadlineAtMs: Date.now() + 1_000 };
    expect(await port.update('workspace/default', 'admit', {}, options)).toEqual({ kind: 'aborted' });
  });
});

function rejected(code: number): never {
  throw new QueryRejectedError(code);
}

function portWith(answer: () => unknown) {
  const client = new Client({ connection });
  const query = vi.fn<() => Promise<unknown>>(async () => answer());
  const handle = client.workflow.getHandle('any');
  for (const method of ['query', 'executeUpdate']) Reflect.set(handle, method, query);
  vi.spyOn(client.workflow, 'getHandle').mockReturnValue(handle);
  return { port: createTemporalPort(client), query };
}
