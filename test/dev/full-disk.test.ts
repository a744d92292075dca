// The errors that a full disk causes; test/chaos/faults/full-disk.test.ts has real ones.
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { fullDiskError } from '../../dev/full-disk.ts';
import { RopewalkError } from '../../domain/errors.ts';

const places = [join(tmpdir(), 'not', 'made', 'yet')];

it.each([
  Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' }),
  new RopewalkError(
    { code: 'UNAVAILABLE', message: 'The database cannot be used: SQLite says "database or disk is full".' },
    {},
  ),
  new Error('temporal did not answer. Its last lines:\n  one\n  write /home/x: no space left on device'),
  new Error('the file could not be written', { cause: new Error('EDQUOT: disk quota exceeded, write') }),
])('%s is explained with the line that says it, and what to do', async (error) => {
  const found = await fullDiskError(error, places);
  expect(found?.problem).toMatchObject({ code: 'UNAVAILABLE', hint: expect.stringContaining('start again') });
  expect(found?.problem.message).toMatch(/^a disk is full: .*(no space left|disk is full|quota exceeded)/);
  expect(found?.problem.message).not.toContain('\n');
});

it('other errors are left as they are', async () => {
  expect(await fullDiskError(new Error('EACCES: permission denied'), places)).toBeNull();
  expect(await fullDiskError('ENOSPC', places)).toBeNull();
});
