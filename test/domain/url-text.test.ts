// The shown form of package URLs.
import { describe, expect, it } from 'vitest';

import { hasGitCredentials, mayHoldSecretUrl, withoutUrlSecrets } from '../../domain/software/url-text.ts';

describe('a URL in a text', () => {
  it.each([
    ['https://host/simple?token=T0KEN', 'https://host/…'],
    ['https://127.0.0.1:9/T0KEN/simple/pkg/', 'https://127.0.0.1:9/…'],
    ['https://dl.cloudsmith.io/T0KEN/org/repo/python/simple', 'https://dl.cloudsmith.io/…'],
    [
      'pkg @ https://host/a/x-1.0-py3-none-any.whl?X-Amz-Signature=T0KEN',
      'pkg @ https://host/…/x-1.0-py3-none-any.whl',
    ],
    ['pkg @ https://host/T0KEN/x.tar.gz#T0KEN', 'pkg @ https://host/…/x.tar.gz'],
    ['url (https://ada:T0KEN@host:8443/simple/)', 'url (https://[secret]@host:8443/…)'],
    ['https://T0KEN@host', 'https://[secret]@host'],
    ['https:/T0KEN@host/a', 'https://[secret]@host/…'],
    ['https://ada:T0KEN/more@host/a', 'https://…/…'],
    ['`https://host/a?T0KEN`, next', '`https://host/…`, next'],
    ['https://host?T0KEN, next', 'https://host, next'],
    ['git+https://host/T0KEN/x.git@v1', 'git+https://host/…/x.git'],
    ['https://host/a?b)T0KEN', 'https://host/…'],
    ['see https://docs.astral.sh/uv/reference#x.', 'see https://docs.astral.sh/uv/reference.'],
    ['no URL: a/b?c', 'no URL: a/b?c'],
  ])('%s', (text, shown) => {
    expect(withoutUrlSecrets(text)).toBe(shown);
    expect(withoutUrlSecrets(shown)).toBe(shown);
  });
});

it.each([
  ['x @ git+https://T0KEN@host/x.git', true],
  ['x@git+https://ada:T0KEN@host/x.git@v1', true],
  ['x @ GIT+HTTPS:/T0KEN@host/x.git', true],
  ['x @ git+https://host/x.git?t=T0KEN', true],
  ['x @ git+ssh://git:T0KEN@host/x.git', true],
  ['x @ git+ssh://git@host/x.git', false],
  ['x @ git+https://host/x.git@v1#subdirectory=a', false],
  ['x @ https://ada:T0KEN@host/x.whl', false],
])('credentials for git in %s: %s', (requirement, has) => {
  expect(hasGitCredentials(requirement)).toBe(has);
});

it.each([
  ['x @ https://ada:T0KEN@host/x.whl', true],
  ['x @ https://bucket.example/x.whl?X-Amz-Signature=T0KEN', true],
  ['x @ https://host/T0KEN/x.whl', true],
  ['x @ https://files.pythonhosted.org/x.whl?t=T0KEN', true],
  ['x @ git+https://T0KEN@host/x.git', true],
  ['x @ https://files.pythonhosted.org/packages/x.whl#sha256=ab', false],
  ['x @ git+https://host/x.git@v1', false],
  ['numpy==2.3.1; python_version < "4"', false],
])('a secret may be in the URL of %s: %s', (requirement, may) => {
  expect(mayHoldSecretUrl(requirement)).toBe(may);
});

it.each(['a', 'git+', 'a:/', '"', '.'])('a text of 400,000 characters without a blank is read: %s', (part) => {
  const text = `https://host/${part.repeat(400_000 / part.length)}`;
  expect(withoutUrlSecrets(text)).toMatch(/^https:/);
  expect(withoutUrlSecrets(text.slice('https://host/'.length)).length).toBeGreaterThan(0);
  expect(mayHoldSecretUrl(text)).toBe(true);
});
