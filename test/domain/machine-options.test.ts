import { describe, expect, it } from 'vitest';

import { parseBatchHeader } from '../../domain/batch-header.ts';
import { readMachineOptions } from '../../domain/job/machine-options.ts';

const read = (header: string, sent: Record<string, string> = {}) => readMachineOptions(parseBatchHeader(header), sent);

describe('options about machines', () => {
  it('are read from a header as seed 004 writes them', () => {
    const header = ['vm-type g5.xlarge', 'region us-east-2', 'memory 32GB', 'cpu 4', 'spot-policy spot_with_fallback'];
    expect(read(header.map((line) => `# COILED ${line}`).join('\n'))).toEqual({
      vmTypes: ['g5.xlarge'],
      region: 'us-east-2',
      memory: '32GB',
      cpu: 4,
      spotPolicy: 'spot_with_fallback',
    });
  });

  it.each(['', ' True', ' true', ' TRUE', ' 1'])('are on when they are written gpu%s', (value) => {
    expect(read(`# COILED gpu${value}`)).toEqual({ gpu: true });
  });

  it.each(['False', 'false', '0'])('are off when they are written gpu %s', (value) => {
    expect(read(`# ROPEWALK gpu ${value}`)).toEqual({ gpu: false });
  });

  it.each([
    ['cpu 2-8', { cpu: [2, 8] }],
    ['cpu 2 - 8', { cpu: [2, 8] }],
    ['cpu 2,8', { cpu: [2, 8] }],
    ['memory 16GB-32GB', { memory: ['16GB', '32GB'] }],
    ['memory 16 GiB - 32 GiB', { memory: ['16 GiB', '32 GiB'] }],
    ['vm-type n2-standard-4', { vmTypes: ['n2-standard-4'] }],
  ])('are ranges in both spellings: %s', (line, read_) => {
    expect(read(`# COILED ${line}`)).toEqual(read_);
  });

  it('are refused when a flag is something else', () => {
    expect(() => read('', { arm: 'perhaps' })).toThrow('arm: "perhaps" is neither true nor false.');
  });
});
