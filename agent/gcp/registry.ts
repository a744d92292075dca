// The login to Artifact Registry, and to Container Registry's names, with the access token of the instance's service account.
import { hostOf, loginAs, type RegistryLogin } from '../runtimes/container/registry-login.ts';
import type { AccessToken } from './access-token.ts';

/** us-central1-docker.pkg.dev, gcr.io, eu.gcr.io. */
const registry = /^(?:[a-z0-9-]+-docker\.pkg\.dev|(?:[a-z]+\.)?gcr\.io)$/;

export const createArtifactRegistryLogin =
  (token: AccessToken): RegistryLogin =>
  async (image) => {
    const host = hostOf(image);
    if (!registry.test(host)) return null;
    const accessToken = await token.get();
    if (accessToken === null) throw new Error('this instance has no service account (docs/gcp.md)');
    return loginAs(host, 'oauth2accesstoken', accessToken);
  };
