import { describe, expect, it } from 'vitest';

import { parseBatchHeader, type BatchHeader } from '../../domain/batch-header.ts';
import { RopewalkError } from '../../domain/errors.ts';
import type { Problem } from '../../domain/errors.ts';
import { describeCommand } from '../../domain/job/command.ts';
import { resolveJob } from '../../domain/job/settings.ts';
import type { JobInput, ResolvedJob } from '../../domain/job/settings.ts';
import { defaultLeaseMs } from '../../domain/job/limits.ts';

describe('resolveJob', () => {
  it('is one task with the defaults when nothing is said', () => {
    expect(resolve()).toEqual({
      name: '',
      command: 'my_script.sh',
      taskCount: 1,
      array: '0',
      inputs: null,
      instances: 1,
      retries: 0,
      leaseMs: defaultLeaseMs,
      watchdogTimeoutMs: 1_800_000,
      taskTimeoutMs: null,
      jobTimeoutMs: null,
      env: {},
      secretEnv: {},
      files: { storeFiles: false, pipeToFiles: false, inputFilestore: null, outputFilestore: null },
      warnings: [],
    });
  });

  it('takes every option from the header', () => {
    const header = `# COILED name nightly
# COILED array 2,4-6,8-10
# COILED max-workers 3
# COILED retries 2
# COILED job-timeout "1 hour"
# COILED lease 30s
# COILED env MODE=fast
# COILED env LEVEL=a=b
# COILED secret-env KEY=hidden
# COILED pipe-to-files
# COILED output-filestore sums`;
    expect(resolve({}, header)).toEqual({
      name: 'nightly',
      command: 'my_script.sh',
      taskCount: 7,
      array: '2,4-6,8-10',
      inputs: null,
      instances: 3,
      retries: 2,
      leaseMs: 30_000,
      watchdogTimeoutMs: 1_800_000,
      taskTimeoutMs: null,
      jobTimeoutMs: 3_600_000,
      env: { MODE: 'fast', LEVEL: 'a=b' },
      secretEnv: { KEY: 'hidden' },
      files: { storeFiles: true, pipeToFiles: true, inputFilestore: null, outputFilestore: 'sums' },
      warnings: [],
    });
  });

  it('lets explicit fields win, option by option', () => {
    const header =
      '# COILED ntasks 10\n# COILED max-workers 3\n# COILED name a\n# COILED env MODE=fast\n# COILED env X=1';
    const job = resolve({ ntasks: 4, maxWorkers: 2, name: 'b', env: { MODE: 'slow' }, jobTimeout: 90 }, header);
    expect(job).toMatchObject({
      taskCount: 4,
      instances: 2,
      name: 'b',
      env: { MODE: 'slow', X: '1' },
      jobTimeoutMs: 90_000,
    });
  });

  it('forgets the array of the header when ntasks is given, and the reverse', () => {
    expect(resolve({ ntasks: 4 }, '# COILED array 5-9').array).toBe('0-3');
    expect(resolve({ array: '5-9' }, '# COILED ntasks 2').array).toBe('5-9');
  });

  it('takes the last of a repeated option', () => {
    expect(resolve({}, '# COILED ntasks 2\n# COILED ntasks 3').taskCount).toBe(3);
  });

  it.each([
    [{ ntasks: 50 }, 8],
    [{ ntasks: 5 }, 5],
    [{ ntasks: 50, maxWorkers: 2 }, 2],
    [{ ntasks: 50, maxWorkers: -1 }, 8],
    [{ ntasks: 2, maxWorkers: -1 }, 2],
  ])('%j is %d instances of at most 8', (input, instances) => {
    expect(resolve(input).instances).toBe(instances);
  });

  it('asks for at most 1,000 instances unless maxWorkers is -1', () => {
    const roomy = { maxInstances: 100_000 };
    const none = parseBatchHeader('');
    expect(resolveJob({ command: ['x'], ntasks: 5_000 }, none, roomy).instances).toBe(1_000);
    expect(resolveJob({ command: ['x'], ntasks: 5_000, maxWorkers: -1 }, none, roomy).instances).toBe(5_000);
  });

  it.each([
    ['memory', '8 GiB'],
    ['cpu', '4'],
    ['vm-type', 'g5.xlarge'],
    ['region', 'us-east-2'],
    ['gpu', ''],
    ['arm', ''],
    ['spot-policy', 'spot'],
    ['disk-size', '100'],
    ['tag', 'a=b'],
  ])('warns that %s has no effect on this machine', (name, value) => {
    const job = resolve({}, `\n# COILED ${name} ${value}`);
    expect(job.warnings).toEqual([
      expect.stringMatching(new RegExp(`^${name} \\(line 2\\) has no effect here: .*\\.$`)),
    ]);
  });

  it('checks options that clients send on like those of the header, once', () => {
    const job = resolve({ options: { memory: '64GB', gpu: '' } }, '# COILED memory 8GB\n# COILED arm');
    expect(job.warnings).toEqual([
      expect.stringMatching(/^arm \(line 2\) has no effect/),
      expect.stringMatching(/^memory has no effect/),
      expect.stringMatching(/^gpu has no effect/),
    ]);
    expect(refused({ options: { download: 'mine' } }, '')).toMatchObject({
      message: expect.stringMatching(/^download is not supported: /),
      field: 'options.download',
    });
    expect(refused({ options: { constructor: '' } }, '').message).toBe('constructor is not an option');
  });

  it('passes on what the header could not read', () => {
    expect(resolve({}, '# COILED').warnings).toEqual([expect.stringMatching(/^Line 1 of the script: .*\.$/)]);
  });

  it.each(['host-setup-script', 'map-over-file', 'upload', 'download'])(
    'refuses %s: it would change what runs',
    (name) => {
      const problem = refused({}, `#!/bin/sh\n# COILED ${name} some value`);
      expect(problem.message).toMatch(new RegExp(`^Line 2, column 10 of the script: ${name} is not supported: `));
    },
  );

  it.each<[Partial<JobInput>, string, string, RegExp]>([
    [{ ntasks: 2, array: '0-1' }, '', 'array', /both set/],
    [{}, '# COILED ntasks 2\n# COILED array 0-1', 'array', /line 1.*line 2/],
    [{}, '# COILED ntasks ten', 'ntasks', /^Line 1 of the script: ntasks needs a whole number/],
    [{}, '# COILED ntasks 0', 'ntasks', /whole number/],
    [{}, '# COILED ntasks 1000001', 'ntasks', /^Line 1 of the script: ntasks: a job has at most/],
    [{}, '\n# COILED array 1-x', 'array', /^Line 2 of the script: array/],
    [{}, '# COILED job-timeout soon', 'jobTimeout', /^Line 1 of the script: jobTimeout/],
    [{}, '# COILED retries 11', 'retries', /^Line 1/],
    [{}, '# COILED max-workers many', 'maxWorkers', /^Line 1/],
    [{}, '# COILED max-workers 0', 'maxWorkers', /0 workers/],
    [
      {},
      '# COILED ntask 10',
      'ntask',
      /^Line 1, column 10 of the script: ntask is not an option; did you mean ntasks\?$/,
    ],
    [
      {},
      '\n  #  ROPEWALK  max_worker 3',
      'maxWorker',
      /^Line 2, column 16 of the script: .* did you mean max-workers\?$/,
    ],
    [
      { options: { 'spot-polcy': 'spot' } },
      '',
      'options.spot-polcy',
      /^spot-polcy is not an option; did you mean spot-policy\?$/,
    ],
    [{}, '# COILED colour blue', 'colour', /: colour is not an option$/],
    [{}, '# COILED name no spaces', 'name', /^Line 1/],
    [{}, '# COILED lease 0.1s', 'lease', /between/],
    [{ maxWorkers: 0 }, '', 'maxWorkers', /0 workers/],
    [{ jobTimeout: 'never' }, '', 'jobTimeout', /^jobTimeout: cannot read "never"/],
    [{ jobTimeout: '0s' }, '', 'jobTimeout', /more than nothing/],
    [{ lease: '2 weeks' }, '', 'lease', /between/],
    [{ array: '1,1' }, '', 'array', /task id 1 is there twice/],
  ])('refuses %j with header %j, naming %s', (input, header, field, message) => {
    const problem = refused(input, header);
    expect(problem).toMatchObject({ code: 'VALIDATION', field });
    expect(problem.message).toMatch(message);
  });

  it('names the file, every unknown option of it, and the document that has all options', () => {
    const header = parseBatchHeader('# ROPEWALK ntask 3\n# ROPEWALK colour blue\n# ROPEWALK memry 1GB');
    expect(problemOf({}, { ...header, file: 'run.sh' })).toMatchObject({
      field: 'ntask',
      message:
        'Line 1, column 12 of run.sh: ntask is not an option; did you mean ntasks? ' +
        'Line 2, column 12 of run.sh: colour is not an option. ' +
        'Line 3, column 12 of run.sh: memry is not an option; did you mean memory?',
      hint: 'Correct or remove them. docs/batch-options.md describes all options.',
    });
    expect(refused({ options: { 'n-task': '2' } }, '')).toMatchObject({
      message: 'n-task is not an option; did you mean ntasks?',
      hint: 'Write ntasks. docs/batch-options.md describes all options.',
    });
  });

  it('warns of #SBATCH lines, with the option that does the same', () => {
    const script = '#!/bin/bash\n#SBATCH --array=0-3\n#SBATCH -c 4\n#SBATCH --export=KEY=s3cr3t\n#SBATCH --exclusive\n';
    expect(resolve({}, script).warnings).toEqual([
      'the script: #SBATCH lines are not read: line 2 (--array: write # ROPEWALK array 0-3), ' +
        'line 3 (-c: write # ROPEWALK cpu), line 4 (--export: write # ROPEWALK env), line 5 (--exclusive).',
    ]);
    expect(resolve({}, '#SBATCH --array=0-3\n# ROPEWALK array 0-3').warnings).toEqual([]);
  });

  it('warns of variables that Slurm alone sets, unless the script knows those of Ropewalk too', () => {
    const script =
      '#!/bin/bash\n# $SLURM_JOB_ID\necho $SLURM_ARRAY_TASK_ID of "${SLURM_ARRAY_TASK_COUNT}" $SLURM_TMPDIR\n';
    expect(resolve({}, script).warnings).toEqual([
      "the script: Slurm's variables are not set: SLURM_ARRAY_TASK_ID (line 3: read ROPEWALK_BATCH_TASK_ID), " +
        'SLURM_ARRAY_TASK_COUNT (line 3: read ROPEWALK_BATCH_TASK_COUNT).',
    ]);
    expect(resolve({}, `${script}id=\${COILED_BATCH_TASK_ID:-$SLURM_ARRAY_TASK_ID}\n`).warnings).toEqual([]);
    expect(resolve({}, 'SLURM_JOB_ID=7 ./x\n').warnings).toEqual([]);
  });

  it('keeps the value of a malformed secret out of the error', () => {
    expect(JSON.stringify(refused({}, '# COILED secret-env s3cr3t'))).not.toContain('s3cr3t');
  });
});

describe('describeCommand', () => {
  it.each([
    [['process.py', '$COILED_BATCH_TASK_INPUT'], 'process.py $COILED_BATCH_TASK_INPUT'],
    [['echo', 'Hello, there'], "echo 'Hello, there'"],
    [['echo', "it's"], 'echo "it\'s"'],
    [['echo', ''], "echo ''"],
    [['a\u001b[31m\u0007\u202e', 'b\nc'], "a[31m 'b c'"],
    [['\ud800'], '\ufffd'],
  ])('%j', (words, text) => {
    expect(describeCommand(words)).toBe(text);
  });

  it('is at most 200 characters long', () => {
    expect([...describeCommand(['x'.repeat(1_000_000), '😀'.repeat(300)])]).toHaveLength(200);
    expect(describeCommand(Array.from({ length: 1_000 }, () => 'ab'))).toMatch(/^(ab )+a?…$/);
  });
});

function resolve(input: Partial<JobInput> = {}, header = ''): ResolvedJob {
  return resolveJob({ command: ['my_script.sh'], ...input }, parseBatchHeader(header), { maxInstances: 8 });
}

function refused(input: Partial<JobInput>, header: string): Problem {
  return problemOf(input, parseBatchHeader(header));
}

function problemOf(input: Partial<JobInput>, header: BatchHeader): Problem {
  try {
    resolveJob({ command: ['my_script.sh'], ...input }, header, { maxInstances: 8 });
  } catch (error) {
    if (error instanceof RopewalkError) return error.problem;
    throw error;
  }
  return expect.fail('it was accepted');
}
