// Doctor's check of the Node archives in the settings: instances compare their hashes.
import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { nodeCheck } from '../../providers/node-check.ts';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

describe('the Node of instances', () => {
  let server: Server;
  let at: string;
  const answers = new Map<string, { status: number; text: string }>();
  beforeAll(async () => {
    server = createServer((request, response) => {
      const { status, text } = answers.get(request.url ?? '') ?? { status: 404, text: '' };
      response.writeHead(status).end(text);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    answers.set('/x64', { status: 200, text: 'node for x64' });
    answers.set('/arm64', { status: 200, text: 'node for arm64' });
  });
  afterAll(() => server.close());

  const check = (changes: { url?: string; sha256?: string } = {}, signal = AbortSignal.timeout(60_000)) => {
    const x86_64 = { url: `${at}/x64`, sha256: sha256('node for x64') };
    const arm64 = { url: `${at}/arm64`, sha256: sha256('node for arm64'), ...changes };
    return nodeCheck('aws', 'ROPEWALK_AWS_SETTINGS', { x86_64, arm64 }).run(signal, 'd');
  };

  it('is what the settings say', async () => {
    expect(await check()).toBe(`${at}/x64, ${at}/arm64`);
  });

  it('is refused where its hash is another, with both hashes', async () => {
    await expect(check({ sha256: 'f'.repeat(64) })).rejects.toMatchObject({
      problem: {
        message: `The hash of ${at}/arm64 is ${sha256('node for arm64')}, and node.arm64.sha256 is ${'f'.repeat(64)}: instances would refuse it and never register.`,
        hint: expect.stringMatching(/"node" in the file of ROPEWALK_AWS_SETTINGS/),
      },
    });
  });

  it('is refused where there is none', async () => {
    await expect(check({ url: `${at}/gone` })).rejects.toThrow(`There is no ${at}/gone, from which arm64 instances`);
  });

  it('is not tried where this machine does not reach it, may not read it, or it takes too long', async () => {
    answers.set('/forbidden', { status: 403, text: 'a proxy' });
    expect(await check({ url: `${at}/forbidden` })).toMatchObject({ text: expect.stringContaining('403') });
    expect(await check({ url: 'http://127.0.0.1:1/x64' })).toMatchObject({
      text: expect.stringContaining('not tried: http://127.0.0.1:1/x64 of arm64 cannot be read from here'),
    });
    expect(await check({}, AbortSignal.abort())).toMatchObject({ text: expect.stringContaining('/x64') });
  });
});
