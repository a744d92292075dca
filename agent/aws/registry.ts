// The login to Amazon ECR: one call with the credentials of the instance's role; the answer is valid for twelve hours.
import { AwsV4Signer } from 'aws4fetch';
import { z } from 'zod';

import { hostOf, loginAs, type RegistryLogin } from '../runtimes/container/registry-login.ts';
import type { RoleCredentials } from './credentials.ts';

/** Registries of an account: 123456789012.dkr.ecr.us-east-1.amazonaws.com, with -fips, and .com.cn in China. */
const registry = /^\d{12}\.dkr\.ecr(?:-fips)?\.([a-z0-9-]+)\.(amazonaws\.com(?:\.cn)?)$/;
const answer = z.object({ authorizationData: z.array(z.object({ authorizationToken: z.base64() })).min(1) });
const timeoutMs = 10_000;
const attachPolicy = 'Attach the policy AmazonEC2ContainerRegistryReadOnly to the role of instances (docs/aws.md)';

/** `endpoint` is an emulator's; null for that of the registry's region. */
export function createEcrLogin(credentials: RoleCredentials, endpoint: string | null): RegistryLogin {
  return async (image) => {
    const host = hostOf(image);
    const [, region, domain] = registry.exec(host) ?? [];
    if (region === undefined || domain === undefined) return null;
    const role = await credentials.get();
    if (role === null) throw new Error(`this instance has no role. ${attachPolicy}`);
    const url = endpoint ?? `https://api.ecr.${region}.${domain}/`;
    const text = await getToken({ url, region }, role);
    const [data] = answer.parse(JSON.parse(text)).authorizationData;
    const [user = '', password = ''] = Buffer.from(data?.authorizationToken ?? '', 'base64')
      .toString()
      .split(':');
    return loginAs(host, user, password);
  };
}

async function getToken(
  { url, region }: { url: string; region: string },
  role: NonNullable<Awaited<ReturnType<RoleCredentials['get']>>>,
): Promise<string> {
  const headers = {
    'content-type': 'application/x-amz-json-1.1',
    'x-amz-target': 'AmazonEC2ContainerRegistry_V20150921.GetAuthorizationToken',
  };
  const signer = new AwsV4Signer({ method: 'POST', url, headers, body: '{}', ...role, service: 'ecr', region });
  const signed = await signer.sign();
  const response = await fetch(signed.url, {
    method: 'POST',
    headers: signed.headers,
    body: '{}',
    signal: AbortSignal.timeout(timeoutMs),
  });
  const text = await response.text();
  if (response.ok) return text;
  const code = /"__type"\s*:\s*"(?:[^"#]*#)?([A-Za-z]+)/.exec(text)?.[1] ?? `status ${response.status}`;
  const isRefused = response.status === 403 || code === 'AccessDeniedException';
  throw new Error(`ECR answered ${code}${isRefused ? `. ${attachPolicy}` : ''}`);
}
