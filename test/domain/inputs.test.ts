import { describe, expect, it } from 'vitest';

import { parseBatchHeader } from '../../domain/batch-header.ts';
import { chooseInputs, countInputs, readInputs, type MapOver } from '../../domain/job/inputs.ts';
import { resolveJob, type JobInput } from '../../domain/job/settings.ts';
import { maxTasks } from '../../domain/job/limits.ts';
import { setOf } from '../../domain/job/task-set.ts';

const both = ['COILED_BATCH_TASK_INPUT', 'ROPEWALK_BATCH_TASK_INPUT'];
const valuesOf = (mapOver: MapOver): string[] => {
  const inputs = readInputs(mapOver);
  return 'values' in inputs ? inputs.values : [];
};

describe('values', () => {
  it.each<[MapOver, string[]]>([
    [{ values: 'first,second,third' }, ['first', 'second', 'third']],
    [{ values: 'a, b,,"c"' }, ['a', ' b', '', '"c"']],
    [{ values: 'a;b,c;d', delimiter: ';' }, ['a', 'b,c', 'd']],
    [{ values: ['a,b', 'c\nd', ' ', 'ünï 🧵'] }, ['a,b', 'c\nd', ' ', 'ünï 🧵']],
    [{ fileContent: 'one\ntwo words\n"three"' }, ['one', 'two words', '"three"']],
    [{ fileContent: 'one\r\ntwo\r\n' }, ['one', 'two']],
    [{ fileContent: '\uFEFFone\n\nthree\n\n\n' }, ['one', '', 'three']],
    [{ fileContent: 'a\tb\n', delimiter: '\\t' }, ['a', 'b\n']],
    [{ fileContent: 'a\nb\0c\0', delimiter: '\\0' }, ['a\nb', 'c']],
    [{ fileContent: 'a,b,\n', delimiter: ',' }, ['a', 'b']],
  ])('of %j are %j', (mapOver, values) => {
    expect(readInputs(mapOver)).toEqual({ names: both, values });
  });

  it('come in a further variable too', () => {
    expect(readInputs({ values: 'a', inputVar: 'FILE' })).toEqual({ names: [...both, 'FILE'], values: ['a'] });
    expect(readInputs({ values: 'a', inputVar: 'COILED_BATCH_TASK_INPUT' })).toEqual({ names: both, values: ['a'] });
  });

  it('may be in a stored list, of which a retry chooses lines, and a retry of a retry some of those', () => {
    const list = { sha256: 'a'.repeat(64), bytes: 100, count: 10 };
    const inputs = readInputs({ list, inputVar: 'FILE', delimiter: ';' });
    expect(inputs).toEqual({ names: [...both, 'FILE'], list, chosen: null });
    expect(countInputs(inputs)).toBe(10);
    const once = chooseInputs(inputs, [1, 4, 7, 9]);
    expect(once).toEqual({ ...inputs, chosen: setOf([1, 4, 7, 9], 10) });
    expect(chooseInputs(once, [0, 3])).toEqual({ ...inputs, chosen: setOf([1, 9], 10) });
    expect(
      resolveJob({ command: ['true'], mapOver: { list } }, parseBatchHeader(''), { maxInstances: 4 }),
    ).toMatchObject({
      taskCount: 10,
      inputs: { list },
    });
    expect(() => readInputs({ list, values: 'a' })).toThrow('exactly one');
    expect(() => readInputs({ list: { ...list, count: maxTasks + 1 } })).toThrow('at most 1000000 tasks');
  });

  it('of a retry are those of its tasks', () => {
    expect(chooseInputs({ names: both, values: ['a', 'b', 'c'] }, [0, 2])).toEqual({ names: both, values: ['a', 'c'] });
    expect(chooseInputs({ variables: [{ A: '1' }, { A: '2' }] }, [1])).toEqual({ variables: [{ A: '2' }] });
  });

  it('may be sets of variables', () => {
    const variables = [{ FOO: '1', BAR: '2' }, { FOO: '3' }];
    expect(readInputs({ variables })).toEqual({ variables });
  });

  it.each<[MapOver, RegExp]>([
    [{}, /exactly one/],
    [{ values: 'a', fileContent: 'b' }, /exactly one/],
    [{ variables: [{ A: '1' }], inputVar: 'B' }, /not for variables/],
    [{ values: [] }, /no value/],
    [{ values: '' }, /no value/],
    [{ fileContent: '\n\n' }, /no value/],
    [{ values: Array.from({ length: maxTasks + 1 }, () => 'x') }, /at most/],
    [{ values: 'a', delimiter: '' }, /empty/],
    [{ values: 'a', inputVar: '1X' }, /not a name/],
    [{ values: 'a', inputVar: 'ROPEWALK_INSTANCE' }, /sets ROPEWALK_INSTANCE itself/],
    [{ variables: [{ COILED_CLUSTER_ID: '1' }] }, /sets COILED_CLUSTER_ID itself/],
    [{ values: ['a', 'b\0secret'] }, /value of task 1 has a NUL/],
    [{ values: ['\ud800secret'] }, /surrogate/],
    [{ values: ['secret'.repeat(10_000)] }, /60000 characters/],
  ])('%# are refused, without a value in the error', (mapOver, message) => {
    expect(() => valuesOf(mapOver)).toThrow(message);
    expect(() => valuesOf(mapOver)).not.toThrow(/secret/);
  });
});

describe('a job over inputs', () => {
  const resolve = (input: Partial<JobInput>, header = '') =>
    resolveJob({ command: ['x'], ...input }, parseBatchHeader(header), { maxInstances: 8 });

  it('has a task for each, with ids from 0', () => {
    expect(resolve({ mapOver: { values: 'a,b,c' } })).toMatchObject({ taskCount: 3, array: '0-2', instances: 3 });
  });

  it('reads them from the header, under the command line', () => {
    const header = '# COILED map-over-values a;b\n# COILED map-over-delimiter ;\n# COILED map-over-input-var FILE';
    expect(resolve({}, header).inputs).toEqual({ names: [...both, 'FILE'], values: ['a', 'b'] });
    expect(resolve({ mapOver: { values: 'c' } }, header).inputs).toMatchObject({ values: ['c'] });
    expect(resolve({ mapOver: { inputVar: 'X' } }, header).inputs).toMatchObject({ names: [...both, 'X'] });
    expect(resolve({ ntasks: 5 }, header)).toMatchObject({ taskCount: 5, inputs: null });
    expect(resolve({ mapOver: { values: 'c' } }, '# COILED ntasks 4')).toMatchObject({ taskCount: 1 });
  });

  it('takes the word of a client that read a file for the header', () => {
    const header = '# COILED map-over-file inputs.txt';
    const mapOver = { fileContent: 'a\nb\n' };
    expect(resolve({ mapOver, clientOptions: ['map-over-file'] }, header)).toMatchObject({ taskCount: 2 });
    expect(() => resolve({}, header)).toThrow(/only the command line can read local files/);
  });

  it.each<[Partial<JobInput>, string, RegExp]>([
    [{ mapOver: { values: 'a' }, ntasks: 2 }, '', /ntasks is set, and the job is mapped/],
    [{ mapOver: { values: 'a' }, array: '1-2' }, '', /array is set, and the job is mapped/],
    [{ mapOver: { inputVar: 'X' } }, '', /without values/],
    [{}, '# COILED ntasks 2\n# COILED map-over-values a,b', /ntasks \(line 1\) and map-over-values \(line 2\)/],
    [{}, '\n# COILED map-over-values a\n# COILED map-over-input-var 1', /^Line 2 of the script: mapOver.inputVar/],
  ])('%# is refused where it says two things', (input, header, message) => {
    expect(() => resolve(input, header)).toThrow(message);
  });

  it('runs as many tasks at a time as %N says', () => {
    expect(resolve({ array: '0-99%3' })).toMatchObject({ taskCount: 100, array: '0-99', instances: 3 });
    expect(resolve({ mapOver: { values: 'a,b,c' }, array: ' %2' })).toMatchObject({ taskCount: 3, instances: 2 });
    expect(() => resolve({ mapOver: { values: 'a,b,c' }, array: '%0' })).toThrow(/lets no task run/);
    expect(resolve({ array: '1-9:2,20 % 2', maxWorkers: 5 })).toMatchObject({ array: '1-9:2,20', instances: 2 });
    expect(resolve({}, '# COILED array 0-9%4')).toMatchObject({ taskCount: 10, instances: 4 });
    expect(() => resolve({ array: '0-9%0' })).toThrow(/lets no task run/);
    expect(() => resolve({ array: '0-4%2,7' })).toThrow(/after the last id/);
  });
});
