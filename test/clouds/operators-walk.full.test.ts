// A new operator's first day, as the documents describe it: operators-walk.ts, in a network of its own.
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { crossPython } from '../emulator/cross/python.ts';
import { findPostgres } from '../store/postgres-server.ts';
import { canBootMachines, inOwnNetwork, prepareMachines } from '../support/booted-machines.ts';
import { findS3Server } from '../support/s3-server.ts';

const [postgres, s3] = await Promise.all([findPostgres(), findS3Server()]);

describe.runIf(canBootMachines && 'directory' in postgres && 'program' in s3)('an operator with a new account', () => {
  it('sets up, starts, loses a host, serves a Dask client outside, and leaves the account as it was', async () => {
    await Promise.all([prepareMachines(), crossPython()]);
    const apiAddress = '198.51.100.10';
    const walked = await inOwnNetwork([join(import.meta.dirname, 'operators-walk.ts'), apiAddress], [apiAddress]);
    expect(walked).toMatch(/the account is as it was\n$/);
  }, 900_000);
});
