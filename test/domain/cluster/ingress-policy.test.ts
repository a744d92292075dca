// The operator's limit on open ports.
import { describe, expect, it } from 'vitest';

import {
  parseIngressPolicy,
  requireAllowedIngress,
  type IngressPolicy,
} from '../../../domain/cluster/capacity/ingress-policy.ts';
import { parseIngressRules, type IngressInput } from '../../../domain/cluster/capacity/ingress-rules.ts';
import { RopewalkError } from '../../../domain/errors.ts';

const refusedField = (policy: IngressPolicy, input: IngressInput): string | undefined => {
  try {
    requireAllowedIngress(policy, parseIngressRules(input), input);
    return undefined;
  } catch (error) {
    if (!(error instanceof RopewalkError)) throw error;
    expect(error.problem).toMatchObject({ code: 'FORBIDDEN', message: expect.stringContaining('ROPEWALK_INGRESS') });
    return error.problem.field;
  }
};

describe('the operator’s setting', () => {
  it('is any, limited, or ranges', () => {
    expect(['any', 'limited'].map(parseIngressPolicy)).toEqual(['any', 'limited']);
    expect(parseIngressPolicy('10.1.2.3/8, 2001:db8::/32,192.0.2.7')).toEqual([
      ...['10.0.0.0/8', '2001:db8::/32', '192.0.2.7/32'],
    ]);
    for (const text of ['', 'none', '10.0.0.0/8,', 'everyone', 'any,10.0.0.0/8']) {
      expect([text, parseIngressPolicy(text)]).toEqual([text, null]);
    }
  });

  it('lets all ports be opened to everyone when it is any', () => {
    const all = { allowSsh: true, allowIngressFrom: 'everyone', openPorts: { 80: 'everyone' } };
    expect(refusedField('any', all)).toBeUndefined();
    expect(refusedField('limited', {})).toBeUndefined();
  });

  it.each<[IngressInput, string]>([
    [{ allowSsh: true }, 'allowSsh'],
    [{ allowSshFrom: 'everyone' }, 'allowSshFrom'],
    [{ allowSshFrom: '198.51.100.1,0.0.0.0/1,128.0.0.0/1' }, 'allowSshFrom'],
    [{ allowIngressFrom: '::/0' }, 'allowIngressFrom'],
    [{ allowIngressFrom: '2000::/3' }, 'allowIngressFrom'],
    [{ allowIngressFrom: '10.0.0.0/8', openPorts: { 9000: '10.0.0.0/8', 9001: '11.0.0.0/7' } }, 'openPorts.9001'],
  ])('refuses %j to everyone and to halves of that', (input, field) => {
    expect(refusedField('limited', input)).toBe(field);
    expect(refusedField(['10.0.0.0/8'], input)).toBe(field);
  });

  it('lets parts of its ranges in, of either kind of address, and nothing else', () => {
    const policy = ['10.0.0.0/8', '192.0.2.128/25', '2001:db8::/33'];
    const from = (allowIngressFrom: string) => refusedField(policy, { allowIngressFrom });
    for (const inside of ['10.0.0.0/8', '10.255.255.255', '192.0.2.129', '2001:db8:7fff::1', '2001:db8::/48']) {
      expect([inside, from(inside)]).toEqual([inside, undefined]);
    }
    for (const outside of [
      '10.0.0.0/7',
      '11.0.0.1',
      '192.0.2.127',
      '192.0.2.0/24',
      '2001:db8:8000::1',
      '2001:db8::/32',
      '::a00:1',
    ]) {
      expect([outside, from(outside)]).toEqual([outside, 'allowIngressFrom']);
    }
    expect(refusedField('limited', { allowIngressFrom: '10.0.0.0/8,2001:db8::/32' })).toBeUndefined();
  });
});
