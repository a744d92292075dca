import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { maxHeaderLine, parseBatchHeader } from '../../domain/batch-header.ts';

describe('the scripts of seed 004, verbatim', () => {
  it('my_script.sh of the quickstart', () => {
    const script = `#!/bin/bash

# COILED ntasks 10
# COILED memory 32GB
# COILED container ubuntu:latest

echo Hello from $COILED_BATCH_TASK_ID
`;
    expect(parseBatchHeader(script)).toEqual({
      options: [
        { name: 'ntasks', value: '10', line: 3, column: 10 },
        { name: 'memory', value: '32GB', line: 4, column: 10 },
        { name: 'container', value: 'ubuntu:latest', line: 5, column: 10 },
      ],
      problems: [],
    });
  });

  it('my_script.py of the quickstart', () => {
    const script = `# COILED n-tasks     10
# COILED memory      8 GiB
# COILED region      us-east-2

import os

print(f"Hello from {os.environ['COILED_BATCH_TASK_ID']}")
`;
    expect(parseBatchHeader(script)).toEqual({
      options: [
        { name: 'ntasks', value: '10', line: 1, column: 10 },
        { name: 'memory', value: '8 GiB', line: 2, column: 10 },
        { name: 'region', value: 'us-east-2', line: 3, column: 10 },
      ],
      problems: [],
    });
  });

  it('process.py, whose other comments and $COILED_BATCH_TASK_INPUT are not options', () => {
    const script = `# COILED memory      8 GiB
# COILED region      us-east-2

import sys
import s3fs

s3 = s3fs.S3FileSystem()

# Process that file
def process(filename):
    with s3.open(filename) as f:
        result = ...
    return result

filename = sys.argv[1]  # or use os.environ["COILED_BATCH_TASK_INPUT"]
result = process(filename)

# Store result
s3.put(...)  # put result back in S3 somewhere
`;
    expect(parseBatchHeader(script)).toEqual({
      options: [
        { name: 'memory', value: '8 GiB', line: 1, column: 10 },
        { name: 'region', value: 'us-east-2', line: 2, column: 10 },
      ],
      problems: [],
    });
  });

  it('my_gpu_script.py', () => {
    const script = `# COILED n-tasks     100
# COILED vm-type     g5.xlarge
# COILED region      us-east-2

import torch
`;
    expect(parseBatchHeader(script).options.map(({ name, value }) => [name, value])).toEqual([
      ['ntasks', '100'],
      ['vm-type', 'g5.xlarge'],
      ['region', 'us-east-2'],
    ]);
  });

  it('my_script.sh of "Configuration"', () => {
    const script = '# COILED memory 64GB\n# COILED region us-west-2\n\n...\n';
    expect(parseBatchHeader(script).options).toHaveLength(2);
  });
});

describe('one option, many spellings', () => {
  it.each([
    ['# ROPEWALK ntasks 10', 'ntasks', '10'],
    ['#ROPEWALK ntasks 10', 'ntasks', '10'],
    ['  # COILED: ntasks 10', 'ntasks', '10'],
    ['// COILED ntasks 10', 'ntasks', '10'],
    ['# COILED ntasks=10', 'ntasks', '10'],
    ['# COILED ntasks = 10', 'ntasks', '10'],
    ['# COILED --ntasks 10', 'ntasks', '10'],
    ['# COILED --n-tasks=10', 'ntasks', '10'],
    ['# COILED n_tasks 10', 'ntasks', '10'],
    ['# COILED NTASKS 10', 'ntasks', '10'],
    ['#\tCOILED\tntasks\t10\r', 'ntasks', '10'],
    ['# COILED -N 4', 'max-workers', '4'],
    ['# COILED max-workers -1', 'max-workers', '-1'],
    ['# COILED -e MODE=fast', 'env', 'MODE=fast'],
    ['# COILED e MODE=fast', 'env', 'MODE=fast'],
    ['# COILED t team=weather', 'tag', 'team=weather'],
    ['# COILED N 4', 'max-workers', '4'],
    ['# COILED env=MODE=fast', 'env', 'MODE=fast'],
    ['# COILED env MODE=a b', 'env', 'MODE=a b'],
    ['# COILED job-timeout "1 hour"', 'job-timeout', '1 hour'],
    ["# COILED job-timeout '1 hour'", 'job-timeout', '1 hour'],
    ['# COILED array 0-10:2', 'array', '0-10:2'],
    ['# COILED arm', 'arm', ''],
    ['# COILED --gpu  ', 'gpu', ''],
    ['\uFEFF# COILED arm', 'arm', ''],
  ])('%j', (text, name, value) => {
    const { options, problems } = parseBatchHeader(text);
    expect({ options, problems }).toEqual({
      options: [{ name, value, line: 1, column: expect.any(Number) }],
      problems: [],
    });
    // The column of the option's name in the source.
    const column = options[0]?.column ?? 0;
    const line = text.replace(/^\uFEFF/, '');
    expect(line.slice(column - 1)).toMatch(/^(-N|-e|-{0,2}(n-|n_)?[a-z-]+)/i);
    expect(line.slice(0, column - 1)).toMatch(/(ROPEWALK|COILED):?\s+$/);
  });

  it.each([
    '# coiled ntasks 10',
    '# Coiled is what we used before',
    'print(1)  # COILED ntasks 10',
    '# COILEDX ntasks 10',
    '# COILED_BATCH_TASK_ID is set',
    'COILED ntasks 10',
    '-- COILED ntasks 10',
    '# see # COILED ntasks 10',
  ])('%j is not a header line', (text) => {
    expect(parseBatchHeader(text)).toEqual({ options: [], problems: [] });
  });

  it.each(['# COILED', '# COILED 10 tasks', '# ROPEWALK ==', '# COILED ntasks! 10'])('%j is a problem', (text) => {
    const header = parseBatchHeader(`\n${text}`);
    expect(header.options).toEqual([]);
    expect(header.problems).toEqual([{ line: 2, message: expect.stringContaining('names no option') }]);
  });

  it('reports a header line that comes too late to be read', () => {
    const script = `${'\n'.repeat(maxHeaderLine - 1)}# COILED ntasks 1\n# COILED ntasks 2`;
    const header = parseBatchHeader(script);
    expect(header.options).toEqual([{ name: 'ntasks', value: '1', line: maxHeaderLine, column: 10 }]);
    expect(header.problems).toEqual([{ line: maxHeaderLine + 1, message: expect.stringContaining('not read') }]);
  });

  it('takes any text', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.string(),
            fc.string().map((text) => `# COILED ${text}`),
          ),
        ),
        (lines) => {
          for (const option of parseBatchHeader(lines.join('\n')).options) {
            expect(option.name).toMatch(/^[a-z][a-z0-9-]*$/i);
            expect(option.line).toBeLessThanOrEqual(maxHeaderLine);
            expect(option.column).toBeGreaterThan(0);
          }
        },
      ),
    );
  });
});
