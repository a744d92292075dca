// Access to a head instance: the users' notation and a firewall's rules.
import { describe, expect, it } from 'vitest';

import { parseIngressRules, portsOf } from '../../../domain/cluster/capacity/ingress-rules.ts';
import { RopewalkError } from '../../../domain/errors.ts';

function problemOf(input: Parameters<typeof parseIngressRules>[0]) {
  try {
    parseIngressRules(input);
  } catch (error) {
    if (error instanceof RopewalkError) return error.problem;
  }
  return null;
}

const schedulerFrom = (allowIngressFrom: string) => parseIngressRules({ allowIngressFrom })?.scheduler?.from;

describe('ingress rules of a cluster', () => {
  it('are those of the configuration unless the request asks for others', () => {
    expect(parseIngressRules({})).toBeNull();
    expect(parseIngressRules({ allowSsh: false })).toBeNull();
    expect(parseIngressRules({ schedulerPort: 9000 })).toBeNull();
  });

  it('take addresses, ranges and everyone; bits behind the prefix are cleared, as EC2 clears them', () => {
    expect(parseIngressRules({ allowSsh: true })).toEqual({ scheduler: null, ssh: ['0.0.0.0/0', '::/0'] });
    expect(parseIngressRules({ allowSsh: true, allowSshFrom: '203.0.113.7' })?.ssh).toEqual(['203.0.113.7/32']);
    expect(schedulerFrom('203.0.113.77/24')).toEqual(['203.0.113.0/24']);
    expect(schedulerFrom('10.255.255.255/9')).toEqual(['10.128.0.0/9']);
    expect(schedulerFrom('1.2.3.4/0')).toEqual(['0.0.0.0/0']);
    expect(schedulerFrom('10.0.0.1, 10.0.0.2/31,10.0.0.1')).toEqual(['10.0.0.1/32', '10.0.0.2/31']);
  });

  it('take IPv6 too, in its shortest form', () => {
    expect(schedulerFrom('2001:DB8:0:0:1:0:0:1')).toEqual(['2001:db8::1:0:0:1/128']);
    expect(schedulerFrom('2001:db8:abcd:ffff::/47')).toEqual(['2001:db8:abcc::/47']);
    expect(schedulerFrom('::1')).toEqual(['::1/128']);
    expect(schedulerFrom('fe80::/10')).toEqual(['fe80::/10']);
    expect(schedulerFrom('::/0')).toEqual(['::/0']);
    expect(schedulerFrom('1:2:3:4:5:6:7:8')).toEqual(['1:2:3:4:5:6:7:8/128']);
  });

  it('are for the port on which the scheduler listens', () => {
    expect(parseIngressRules({ allowIngressFrom: '10.0.0.1' })?.scheduler?.port).toBe(8786);
    expect(parseIngressRules({ allowIngressFrom: '10.0.0.1', schedulerPort: 9000 })?.scheduler?.port).toBe(9000);
  });

  it('open further ports', () => {
    const rules = parseIngressRules({ allowSshFrom: '10.0.0.1', openPorts: { 9000: 'everyone', 65535: '10.0.0.1' } });
    expect(rules?.others).toEqual([
      { port: 9000, from: ['0.0.0.0/0', '::/0'] },
      { port: 65_535, from: ['10.0.0.1/32'] },
    ]);
    expect(rules === null ? null : portsOf(rules)).toEqual([
      { port: 22, source: '10.0.0.1/32' },
      { port: 9000, source: '0.0.0.0/0' },
      { port: 9000, source: '::/0' },
      { port: 65_535, source: '10.0.0.1/32' },
    ]);
    expect(parseIngressRules({ openPorts: {} })).toBeNull();
  });

  it('are refused by the port that has none, or another name', () => {
    for (const port of ['0', '65536', '1e3', 'http', '-1', '080'])
      expect(problemOf({ openPorts: { [port]: '10.0.0.1' } })).toMatchObject({
        field: `openPorts.${port}`,
        message: expect.stringContaining('it is not a port'),
      });
    expect(problemOf({ openPorts: { 22: 'everyone' } })).toMatchObject({ hint: 'Use allowSshFrom.' });
    expect(problemOf({ openPorts: { 8786: 'everyone' } })).toMatchObject({ hint: 'Use allowIngressFrom.' });
    expect(problemOf({ openPorts: { 8786: 'everyone' }, schedulerPort: 9000 })).toBeNull();
    expect(problemOf({ openPorts: { 9000: 'nowhere' } })?.field).toBe('openPorts.9000');
    const many = Object.fromEntries(Array.from({ length: 31 }, (_, nth) => [9000 + nth, 'everyone']));
    expect(problemOf({ openPorts: many })?.message).toContain('62 rules are more than the 60');
  });

  it('are refused by the name of the field that has no addresses', () => {
    const wrong = [
      'me',
      'anyone',
      '300.1.1.1',
      '10.0.0.0/33',
      '10.0.0',
      '10.0.0.1/-1',
      ':::',
      '1:2',
      '1::2::3',
      '::/129',
    ];
    for (const text of [...wrong, '10.0.0.1,', '1:2:3:4:5:6:7:8:9', '::12345'])
      expect([text, problemOf({ allowIngressFrom: text })]).toMatchObject([text, { field: 'allowIngressFrom' }]);
    expect(problemOf({ allowIngressFrom: 'me' })?.hint).toContain('over HTTP, give the address');
    expect(problemOf({ allowSshFrom: 'me' })).toMatchObject({ field: 'allowSshFrom' });
    expect(problemOf({ allowSsh: false, allowSshFrom: 'everyone' })).toMatchObject({ field: 'allowSsh' });
    const many = Array.from({ length: 21 }, (_, n) => `10.0.0.${n}`).join(',');
    expect(problemOf({ allowIngressFrom: many })?.message).toContain('21 ranges');
  });
});
