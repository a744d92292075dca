// How the words of a command become the executed words.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { resolveCommand } from '../../agent/job/command.ts';
import { unpackFiles } from '../../agent/job/task-files.ts';
import { scriptFile } from './harness.ts';

const env = { NAME: 'value', EMPTY: '', NESTED: '$NAME', COILED_BATCH_TASK_ID: '3' };
const words = (...command: string[]): string[] =>
  resolveCommand(command, { values: { ...env, TOKEN: 'secret' }, secret: ['TOKEN'] }, []);

describe('variables', () => {
  it('are replaced in both spellings, anywhere in a word, in every word', () => {
    expect(words('$NAME', 'a${NAME}b', '--id=$COILED_BATCH_TASK_ID', '$EMPTY.')).toEqual([
      'value',
      'avalueb',
      '--id=3',
      '.',
    ]);
  });

  it('that the task does not have stay as they are written', () => {
    const odd = ['$OTHER', '${OTHER}', '$NAME_X', '$', '$$', '${', '${}', '$1', '$(NAME)', '${NAME', '$toString'];
    expect(words('x', ...odd)).toEqual(['x', ...odd]);
  });

  it('are replaced once: a value is never read as a variable', () => {
    expect(words('echo', '$NESTED')).toEqual(['echo', '$NAME']);
  });

  it('never become part of the text of a program, which reads them by itself', () => {
    const texts = [
      'echo "$NAME"',
      "print('$NAME')",
      'x;$NAME',
      '`$NAME`',
      '$(cat $NAME)',
      'a ${NAME}',
      '$NAME\n',
      '<$NAME',
    ];
    expect(words('x', ...texts)).toEqual(['x', ...texts]);
    expect(words('sh', '-c', '$NAME', '$NAME')).toEqual(['sh', '-c', '$NAME', 'value']);
    expect(words('bash', '-ec', '$NAME')).toEqual(['bash', '-ec', '$NAME']);
  });

  it('that are secret never become words', () => {
    expect(words('x', '--token=$TOKEN', '${TOKEN}')).toEqual(['x', '--token=$TOKEN', '${TOKEN}']);
  });

  it('leave every other word alone', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }).filter((word) => !word.includes('$')),
        (word) => {
          expect(words('x', word)).toEqual(['x', word]);
        },
      ),
    );
  });
});

describe('a first word that is one of the job`s files', () => {
  const files = unpackFiles([
    scriptFile('with-interpreter.py', '#!/usr/bin/env python3\n'),
    scriptFile('plain.py', 'print(1)\n'),
    scriptFile('sub/plain.sh', 'echo 1\n'),
    { ...scriptFile('program', '\u007fELF'), executable: true },
    scriptFile('data.txt', 'text'),
  ]);
  const run = (first: string): string[] => resolveCommand([first, 'arg'], { values: {}, secret: [] }, files);

  it('is run by what it says itself, else by what its name says', () => {
    expect(run('with-interpreter.py')).toEqual(['./with-interpreter.py', 'arg']);
    expect(run('plain.py')).toEqual(['python3', '-u', './plain.py', 'arg']);
    expect(run('./sub/plain.sh')).toEqual(['bash', './sub/plain.sh', 'arg']);
    expect(run('program')).toEqual(['./program', 'arg']);
  });

  it('stays as it is otherwise', () => {
    expect(run('data.txt')).toEqual(['data.txt', 'arg']);
    expect(run('python3')).toEqual(['python3', 'arg']);
    expect(run('/plain.py')).toEqual(['/plain.py', 'arg']);
  });
});
