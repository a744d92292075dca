// The doctor's findings about ROPEWALK_INGRESS.
import { expect, it } from 'vitest';

import { checkIngress } from '../../ops/doctor/clouds.ts';

it('the doctor says to whom ports may be opened, and finds a setting that is none', () => {
  const said = (value?: string) =>
    checkIngress({ name: 'aws' }, value === undefined ? {} : { ROPEWALK_INGRESS: value });
  expect(said()).toMatchObject({ check: 'aws ingress', state: 'ok', text: expect.stringContaining('to any address;') });
  expect(said('limited')).toMatchObject({ state: 'ok', text: expect.stringContaining('an IPv4 /8') });
  expect(said('10.0.0.0/8')).toMatchObject({ state: 'ok', text: expect.stringContaining('to 10.0.0.0/8') });
  expect(said('10.0.0.0/40')).toMatchObject({
    state: 'broken',
    text: expect.stringContaining('ROPEWALK_INGRESS must be'),
  });
});
