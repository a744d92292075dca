// What uv really says of addresses that cannot be reached: no error repeats a token of theirs.
import { fileURLToPath } from 'node:url';

import { expect, it } from 'vitest';

import { EnvironmentError } from '../../agent/runtimes/environment/errors.ts';
import { ensureEnvironment } from '../../agent/runtimes/environment/environment.ts';

const cacheDir = fileURLToPath(new URL('../../node_modules/.cache/ropewalk/agent-cache', import.meta.url));
const index = (url: string) => ({ url, username: 'ada', password: 'T0KEN', default: true });

it.each([
  ['a token in the path of an index', ['zz6'], [index('http://127.0.0.1:9/T0KEN/simple')]],
  ['a token in the query of an index', ['zz6'], [index('http://127.0.0.1:9/simple?token=T0KEN')]],
  ['a signature of a file', ['zz6 @ http://127.0.0.1:9/a/zz6-1.0-py3-none-any.whl?Signature=T0KEN'], []],
  ['a token in the path of a file', ['zz6 @ http://127.0.0.1:9/T0KEN/zz6-1.0.tar.gz'], []],
  ['a file that is no package', ['zz6 @ http://127.0.0.1:9/T0KEN/zz6.txt?T0KEN'], []],
  ['a password of a file', ['zz6 @ http://ada:T0KEN@127.0.0.1:9/zz6-1.0-py3-none-any.whl'], []],
])('%s', async (_, requirements, indexes) => {
  const environment = { ...process.env, UV_HTTP_RETRIES: '0' };
  const made = ensureEnvironment({ cacheDir, requirements, indexes, pythonPath: 'python3', environment });
  const error = await made.catch((failure: unknown) => failure);
  expect(error).toBeInstanceOf(EnvironmentError);
  if (!(error instanceof EnvironmentError)) return;
  expect([error.message, ...error.requirements].join('\n')).not.toContain('T0KEN');
  expect(error.message).toContain('127.0.0.1:9');
});
