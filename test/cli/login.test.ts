import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { aCreatedToken, aLoginStart, anError, aWhoami, notYet } from '../sdk/stand-in-api.ts';
import { callCli } from './call-cli.ts';
import { runCli, startCli, withDirectory } from './run-cli.ts';
import { standIn } from './stand-in.ts';

const { token: fresh } = aCreatedToken;
const me = aWhoami;
const created = aCreatedToken;

describe('login', () => {
  it('shows a code, waits for approval, and stores the token readable only by its owner', async () => {
    await withDirectory(async (directory) => {
      const home = join(directory, 'new', 'home');
      const { api } = await standIn(({ path }, nth) => {
        if (path === '/v1/login/device') return { json: aLoginStart };
        if (path === '/v1/login/device/token') return nth < 4 ? notYet : { json: created };
        return { json: me };
      });
      const {
        code: exit,
        stdout,
        stderr,
      } = await callCli(['login', '--api-url', api.url], { env: { ROPEWALK_HOME: home } });
      expect({ exit, stdout }).toEqual({
        exit: 0,
        stdout: `Signed in at ${api.url} as ada (workspace default): admin; token abcdefghijkl with the scopes read, write, admin\n`,
      });
      expect(stderr).toContain('BCDF-GHJK');
      expect(stderr).toContain('https://x.example/login?code=BCDF-GHJK');
      expect(stdout + stderr).not.toMatch(/device-secret|fresh_secret/);
      const file = join(home, 'config.yaml');
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      expect(await readFile(file, 'utf8')).toBe(`apiUrl: ${api.url}\ntoken: ${fresh}\nworkspace: default\n`);
      expect(await readdir(home)).toEqual(['config.yaml']);
      expect(api.requests.map(({ path, headers }) => [path, headers.authorization])).toEqual([
        ['/v1/login/device', undefined],
        ...Array.from({ length: 3 }, () => ['/v1/login/device/token', undefined]),
        ['/v1/whoami', `Bearer ${fresh}`],
      ]);
      expect(api.requests[0]?.body).toEqual({ client: expect.stringMatching(/^ropewalk on /) });
    });
  });

  it.each([
    [anError(403, { code: 'FORBIDDEN', message: 'This login was denied.' }), 'This login was denied.', 1],
    [anError(410, { code: 'EXPIRED', message: 'This login expired.' }), 'This login expired.', 1],
  ])('fails when the login is denied or expires', async (answer, text, exit) => {
    await withDirectory(async (home) => {
      const { env } = await standIn(({ path }) => (path === '/v1/login/device' ? { json: aLoginStart } : answer));
      const result = await callCli(['login'], {
        env: { ROPEWALK_API_URL: env['ROPEWALK_API_URL'] ?? '', ROPEWALK_HOME: home },
      });
      expect(result).toMatchObject({ code: exit, stdout: '' });
      expect(result.stderr).toContain(`error: ${text}`);
      expect(await readdir(home)).toEqual([]);
    });
  });

  it('ends with Ctrl-C, and stores nothing', async () => {
    await withDirectory(async (home) => {
      const { env } = await standIn(({ path }) => (path === '/v1/login/device' ? { json: aLoginStart } : notYet));
      const cli = startCli(['login'], {
        env: { ROPEWALK_API_URL: env['ROPEWALK_API_URL'] ?? '', ROPEWALK_HOME: home },
      });
      try {
        await expect.poll(cli.stderr, { timeout: 20_000 }).toContain('BCDF-GHJK');
        cli.child.kill('SIGINT');
        expect(await cli.result).toMatchObject({ code: 130, stderr: expect.stringContaining('not signed in') });
        expect(await readdir(home)).toEqual([]);
      } finally {
        cli.child.kill('SIGKILL');
      }
    });
  });

  it('reads a token from standard input or a file, and stores only a valid one, next to other settings', async () => {
    await withDirectory(async (home) => {
      const file = join(home, 'config.yaml');
      await writeFile(file, 'apiUrl: http://127.0.0.1:1\nother: kept\ntoken: rw_default_old-old\n', { mode: 0o644 });
      await chmod(file, 0o644);
      const { api } = await standIn(({ headers }) =>
        headers.authorization === `Bearer ${fresh}`
          ? { json: me }
          : anError(401, { code: 'UNAUTHENTICATED', message: 'No.' }),
      );
      const words = ['login', '--token', '--api-url', api.url, '--format', 'json'];
      const bad = await runCli(words, { env: { ROPEWALK_HOME: home }, input: 'rw_default_zzz-wrong\n' });
      expect(bad).toMatchObject({ code: 1, stdout: '' });
      expect(bad.stderr).not.toContain('wrong');
      expect(await readFile(file, 'utf8')).toContain('rw_default_old-old');

      const good = await runCli(words, { env: { ROPEWALK_HOME: home, ROPEWALK_TOKEN: 'x' }, input: `${fresh}\n` });
      expect(JSON.parse(good.stdout)).toEqual(me);
      expect(good.stderr).toContain('variable ROPEWALK_TOKEN is set');
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      expect(await readFile(file, 'utf8')).toBe(
        `apiUrl: ${api.url}\nother: kept\ntoken: ${fresh}\nworkspace: default\n`,
      );

      await writeFile(join(home, 'token.txt'), fresh);
      const fromFile = await callCli(['login', '--token-file', 'token.txt'], {
        env: { ROPEWALK_HOME: home },
        cwd: home,
      });
      expect(fromFile).toMatchObject({ code: 0 });
    });
  });

  it.each([
    ['', 'standard input has no token'],
    ['hunter2\n', 'this is not a token'],
    ['rw_default_a-b\nrw_default_c-d\n', 'this is not a token'],
  ])('refuses %j without a request', async (input, text) => {
    const { api, env } = await standIn(() => ({ json: me }));
    const result = await runCli(['login', '--token'], { env, input });
    expect(result).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(text) });
    expect(result.stderr).not.toContain('hunter2');
    expect(api.requests).toEqual([]);
  });
});

describe('logout', () => {
  async function signedIn(home: string, url: string): Promise<string> {
    await mkdir(home, { recursive: true });
    const file = join(home, 'config.yaml');
    await writeFile(file, `apiUrl: ${url}\ntoken: ${fresh}\nworkspace: default\n`, { mode: 0o600 });
    return file;
  }

  it('revokes the stored token and deletes it; a token that is no longer valid is deleted too', async () => {
    const whoami = '/v1/whoami';
    const cases = [
      { answer: { json: me }, paths: [whoami, '/v1/tokens/abcdefghijkl/revoke'] },
      { answer: anError(401, { code: 'UNAUTHENTICATED', message: 'No.' }), paths: [whoami] },
    ];
    for (const { answer, paths } of cases) {
      await withDirectory(async (home) => {
        const { api } = await standIn(() => answer);
        const file = await signedIn(home, api.url);
        expect(await callCli(['logout'], { env: { ROPEWALK_HOME: home } })).toEqual({
          code: 0,
          stdout: 'Signed out: the token is revoked\n',
          stderr: '',
        });
        expect(await readFile(file, 'utf8')).toBe(`apiUrl: ${api.url}\n`);
        expect(api.requests.map(({ path }) => path)).toEqual(paths);
        expect(await callCli(['logout'], { env: { ROPEWALK_HOME: home } })).toMatchObject({
          code: 0,
          stdout: '',
          stderr: expect.stringContaining('Not signed in'),
        });
      });
    }
  });

  it('keeps a token that it cannot revoke, except with --local', async () => {
    await withDirectory(async (home) => {
      const { api } = await standIn(() => anError(500, { code: 'INTERNAL', message: 'Something went wrong.' }));
      const file = await signedIn(home, api.url);
      expect(await callCli(['logout'], { env: { ROPEWALK_HOME: home } })).toMatchObject({ code: 1, stdout: '' });
      expect(await readFile(file, 'utf8')).toContain(fresh);
      const local = await callCli(['logout', '--local'], { env: { ROPEWALK_HOME: home } });
      expect(local).toMatchObject({ code: 0, stdout: expect.stringContaining('still valid') });
      expect(await readFile(file, 'utf8')).toBe(`apiUrl: ${api.url}\n`);
      expect(api.requests).toHaveLength(1);
    });
  });
});
