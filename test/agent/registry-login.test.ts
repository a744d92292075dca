// Logins to the registries of an instance's own cloud: Amazon ECR and Artifact Registry.
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { once } from 'node:events';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { createEcrLogin } from '../../agent/aws/registry.ts';
import type { RoleCredentials } from '../../agent/aws/credentials.ts';
import { createArtifactRegistryLogin } from '../../agent/gcp/registry.ts';
import { hostOf } from '../../agent/runtimes/container/registry-login.ts';

const image = '123456789012.dkr.ecr.eu-west-1.amazonaws.com/team/tool:1';
const role = { accessKeyId: 'AKIATEST', secretAccessKey: 'never-sent', sessionToken: 'of-the-session' };
const roleCredentials = (held: typeof role | null): RoleCredentials => ({
  get: async () => held,
  forget: () => undefined,
});

describe('the login to Amazon ECR', () => {
  let server: Server;
  let url: string;
  let asked: IncomingMessage[];
  let answer: { status: number; body: object };
  beforeEach(async () => {
    asked = [];
    const authorizationToken = Buffer.from('AWS:twelve-hours').toString('base64');
    answer = { status: 200, body: { authorizationData: [{ authorizationToken, expiresAt: 1.8e9 }] } };
    server = createServer((request, response) => {
      asked.push(request);
      response.writeHead(answer.status).end(JSON.stringify(answer.body));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/`;
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  it('is asked for in the region of the registry, signed by the role of the instance', async () => {
    const auth = Buffer.from('AWS:twelve-hours').toString('base64');
    expect(await createEcrLogin(roleCredentials(role), url)(image)).toEqual({ [hostOf(image)]: { auth } });
    const { authorization = '', ...headers } = asked[0]?.headers ?? {};
    expect(authorization).toMatch(/^AWS4-HMAC-SHA256 Credential=AKIATEST\/\d{8}\/eu-west-1\/ecr\/aws4_request, /);
    expect(headers).toMatchObject({
      'x-amz-target': 'AmazonEC2ContainerRegistry_V20150921.GetAuthorizationToken',
      'x-amz-security-token': role.sessionToken,
    });
  });

  it('is not asked for where the registry is another', async () => {
    const login = createEcrLogin(roleCredentials(role), url);
    for (const other of ['ubuntu:24.04', 'ghcr.io/a/b', 'public.ecr.aws/x/y', `evil.example/${image}`, 'a/b']) {
      expect(await login(other)).toBeNull();
    }
    expect(asked).toEqual([]);
  });

  it('says what the instance is missing', async () => {
    await expect(createEcrLogin(roleCredentials(null), url)(image)).rejects.toThrow('this instance has no role');
    answer = { status: 400, body: { __type: 'AccessDeniedException', message: 'not authorized' } };
    const login = createEcrLogin(roleCredentials(role), url);
    await expect(login(image)).rejects.toThrow(/AccessDeniedException.*AmazonEC2ContainerRegistryReadOnly/);
    answer = { status: 500, body: { __type: 'ServerException' } };
    await expect(login(image)).rejects.toThrow(/ServerException$/);
  });
});

it('the login to Artifact Registry is the access token of the service account', async () => {
  const token = (text: string | null) => ({ get: async () => text, forget: () => undefined });
  const login = createArtifactRegistryLogin(token('ya29.short'));
  const auth = Buffer.from('oauth2accesstoken:ya29.short').toString('base64');
  const host = 'europe-west4-docker.pkg.dev';
  expect(await login(`${host}/project/team/tool:1`)).toEqual({ [host]: { auth } });
  expect(await login('eu.gcr.io/project/tool')).toEqual({ 'eu.gcr.io': { auth } });
  for (const other of ['gcr.io.example/a', 'docker.io/library/ubuntu', 'pkg.dev/x'])
    expect(await login(other)).toBeNull();
  await expect(createArtifactRegistryLogin(token(null))('gcr.io/p/x')).rejects.toThrow('no service account');
});
