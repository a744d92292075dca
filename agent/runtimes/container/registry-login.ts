// The login to a registry of the instance's own cloud, from its role or service account: only for pulling an image. Tasks never
// see it.

/** The form of `auths` in Docker's config.json: by the registry's host; `auth` is base64 of `user:password`. */
export type RegistryLogins = Record<string, { auth: string }>;

/**
 * The login for an image's registry; null for a registry outside this cloud. Rejects with the problem, worded to follow "No
 * login to the registry: ".
 */
export type RegistryLogin = (image: string) => Promise<RegistryLogins | null>;

export const loginAs = (host: string, user: string, password: string): RegistryLogins => ({
  [host]: { auth: Buffer.from(`${user}:${password}`).toString('base64') },
});

/** The host in an image's name; empty for Docker Hub images without one. */
export const hostOf = (image: string): string => {
  const [first = '', ...rest] = image.split('/');
  return rest.length > 0 && /[.:]/.test(first) ? first : '';
};
