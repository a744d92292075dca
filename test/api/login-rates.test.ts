// Rates of callers without a token: a flood from many places must not make each request slower.
import { expect, it } from 'vitest';

import { maxMailLinksFromPlace } from '../../domain/people/limits.ts';
import { createLoginRates } from '../../services/login/rates.ts';

it('examines few of the remembered places for a request, and forgets those whose time has passed', () => {
  const clock = { ms: 0, reads: 0 };
  const rates = createLoginRates(() => {
    clock.reads += 1;
    return clock.ms;
  });
  for (let nth = 0; nth < 5_000; nth += 1) {
    clock.ms += 1;
    rates.requestLink(`place ${nth}`, 'ann@example.com');
    rates.begin(`place ${nth}`);
    rates.finish(`place ${nth}`);
  }
  clock.reads = 0;
  rates.requestLink('another', 'ann@example.com');
  rates.begin('another');
  rates.finish('another');
  expect(clock.reads).toBeLessThan(50);
  for (let nth = 1; nth < maxMailLinksFromPlace; nth += 1) rates.requestLink('another', `p${nth}@example.com`);
  expect(() => rates.requestLink('another', 'bob@example.com')).toThrow('Too many links were requested from here.');
  clock.ms += 3_600_000;
  rates.requestLink('another', 'bob@example.com');
});
