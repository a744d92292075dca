// Who may reach a head instance: what people write, and what a firewall takes.
import { describe, expect, it } from 'vitest';

import { parseIngressRules } from '../../../domain/cluster/ingress-rules.ts';
import { RopewalkError } from '../../../domain/errors.ts';

function problemOf(input: Parameters<typeof parseIngressRules>[0]) {
  try {
    parseIngressRules(input);
  } catch (error) {
    if (error instanceof RopewalkError) return error.problem;
  }
  return null;
}

describe('ingress of a cluster', () => {
  it('are as the configuration has them unless somebody asks', () => {
    expect(parseIngressRules({})).toBeNull();
    expect(parseIngressRules({ allowSsh: false })).toBeNull();
  });

  it('take an address, a range or everyone; bits behind the prefix are cleared, as EC2 clears them', () => {
    expect(parseIngressRules({ allowSsh: true })).toEqual({ scheduler: null, ssh: '0.0.0.0/0' });
    expect(parseIngressRules({ allowSsh: true, allowSshFrom: '203.0.113.7' })?.ssh).toBe('203.0.113.7/32');
    expect(parseIngressRules({ allowIngressFrom: '203.0.113.77/24' })).toEqual({
      scheduler: '203.0.113.0/24',
      ssh: null,
    });
    expect(parseIngressRules({ allowIngressFrom: '10.255.255.255/9' })?.scheduler).toBe('10.128.0.0/9');
    expect(parseIngressRules({ allowIngressFrom: 'everyone' })?.scheduler).toBe('0.0.0.0/0');
    expect(parseIngressRules({ allowIngressFrom: '1.2.3.4/0' })?.scheduler).toBe('0.0.0.0/0');
  });

  it('name the field that is no source', () => {
    for (const text of ['me', 'anyone', '300.1.1.1', '10.0.0.0/33', '10.0.0', '::1', '10.0.0.1/-1'])
      expect(problemOf({ allowIngressFrom: text })).toMatchObject({ code: 'VALIDATION', field: 'allowIngressFrom' });
    expect(problemOf({ allowSshFrom: 'me' })).toMatchObject({ field: 'allowSshFrom' });
    expect(problemOf({ allowSsh: false, allowSshFrom: 'everyone' })).toMatchObject({ field: 'allowSsh' });
  });
});
