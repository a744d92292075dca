import { expect, it } from 'vitest';

import { addressForClients } from '../../../domain/cluster/dask/client-address.ts';

const privateAddress = 'tls://10.0.0.4:8786';
const publicly = (publicAddress: string | null, usePublicAddress = true) => ({ publicAddress, usePublicAddress });

it('clients use the public address of the scheduler where there is one', () => {
  expect(addressForClients(privateAddress, publicly('203.0.113.7'))).toBe('tls://203.0.113.7:8786');
  expect(addressForClients('tls://[fd00::4]:8786', publicly('2001:db8::7'))).toBe('tls://[2001:db8::7]:8786');
  expect(addressForClients('tls://head.internal:9000', publicly('203.0.113.7'))).toBe('tls://203.0.113.7:9000');
});

it('clients use the private address where there is no other, or where the cluster says so', () => {
  expect(addressForClients(privateAddress, publicly(null))).toBe(privateAddress);
  expect(addressForClients(privateAddress, publicly('203.0.113.7', false))).toBe(privateAddress);
});
