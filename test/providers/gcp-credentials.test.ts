// Credentials that are missing are an error of the request, never the end of the process: vitest fails on a rejection that nothing handles.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { freshOwner } from './aws-cloud.ts';
import { type GcpTestCloud, startGcpCloud } from './gcp-cloud.ts';

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
});
