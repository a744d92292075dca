// The login to a registry of the instance's own cloud, which its role or service account gives: for the pull of an image, and for it alone.
// Tasks never see it.

/** As `auths` of Docker's config.json has them: by the registry's host; `auth` is base64 of `user:password`. */
export type RegistryLogins = Record<string, { auth: string }>;

/**
 * The login for the registry of an image; null where the registry is none of this cloud's. Rejects with what is missing, in words that follow
 * "No login to the registry: ".
 */
export type RegistryLogin = (image: string) => Promise<RegistryLogins | null>;

export const loginAs = (host: string, user: string, password: string): RegistryLogins => ({
  [host]: { auth: Buffer.from(`${user}:${password}`).toString('base64') },
});

/** The host of an image's name; empty for an image of Docker Hub without one. */
export const hostOf = (image: string): string => {
  const [first = '', ...rest] = image.split('/');
  return rest.length > 0 && /[.:]/.test(first) ? first : '';
};
