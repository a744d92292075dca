// Missing credentials are an error of the request, never the end of the process: vitest fails on an unhandled rejection.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { gcpManifest } from '../../providers/gcp/manifest.ts';
import { freshOwner } from './aws-cloud.ts';
import { gcpFile, type GcpTestCloud, startGcpCloud } from './gcp-cloud.ts';

describe('the credentials of Google Cloud', () => {
  let cloud: GcpTestCloud;
  beforeEach(async () => {
    cloud = await startGcpCloud();
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await cloud.close();
  });

  it('may be missing at first: requests fail, and succeed once they are there', async () => {
    const { deploymentId } = freshOwner();
    vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', '/nonexistent/credentials.json');
    await expect(cloud.provider.list(deploymentId)).rejects.toThrow('/nonexistent/credentials.json');
    await expect(cloud.provider.list(deploymentId)).rejects.toThrow('/nonexistent/credentials.json');
    vi.unstubAllEnvs();
    expect(await cloud.provider.list(deploymentId)).toEqual([]);
  });

  it('that are missing are a finding of doctor, as are a cloud without an answer and an agent that the API does not serve', async () => {
    const settings = join(cloud.directory, 'gcp.json');
    const bundle = join(cloud.directory, 'agent.mjs');
    await Promise.all([writeFile(settings, JSON.stringify(gcpFile)), writeFile(bundle, 'the agent')]);
    const usual = { ROPEWALK_GCP_SETTINGS: settings, CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE: cloud.emulator.url };
    const run = async (name: string, changes: Record<string, string> = {}, withinMs = 30_000): Promise<unknown> => {
      const provider = gcpManifest.configure({ env: { ...usual, ...changes }, home: cloud.directory, hostId: 'host' });
      const check = provider?.checks.find((each) => each.name === name);
      return check === undefined ? 'no such check' : check.run(AbortSignal.timeout(withinMs), 'd_doctor');
    };
    expect(await run('gcp credentials')).toBe('instances of project test-project can be listed');
    vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', '/nonexistent/credentials.json');
    await expect(run('gcp credentials')).rejects.toThrow('list instances: there are no credentials: ');
    vi.unstubAllEnvs();
    const away = { CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE: 'http://127.0.0.1:9' };
    await expect(run('gcp credentials', away, 500)).rejects.toThrow('aborted due to timeout');
    const agent = { ROPEWALK_API_URL: 'http://127.0.0.1:9', ROPEWALK_AGENT_BUNDLE: bundle };
    await expect(run('gcp agent', agent)).rejects.toThrow('http://127.0.0.1:9/v1/agent/program/');
  });
});
