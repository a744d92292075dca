// A request's container for the tasks of a job or the Dask processes of a cluster.
import { z } from 'zod';

import { imageSyntax } from '../domain/job/runtime-options.ts';

/** A script that each instance runs once, as a process of its own user, before anything else of the job or cluster. */
export const hostSetupScript = z
  .string()
  .min(1)
  .max(256 * 1024)
  .optional();

/** Credentials by registry, in the format of `auths` in Docker's config.json; `auth` is base64 of `user:password`. */
export const registryAuth = z.record(
  z.string().regex(/^[A-Za-z0-9][A-Za-z0-9.:/_-]{0,254}$/, 'the name of a registry, e.g. ghcr.io'),
  z.strictObject({ auth: z.base64().max(16 * 1024) }),
);

export const containerInput = {
  /** Image of the container in which commands run, e.g. `ubuntu:24.04`. Instances run it with podman or docker. */
  container: z.string().regex(imageSyntax, 'the name of an image, e.g. ubuntu:24.04').optional(),
  /** Ignores the image's entrypoint. */
  ignoreContainerEntrypoint: z.boolean().optional(),
  /** Credentials of registries for pulling the image; sealed. */
  registryAuth: registryAuth.optional(),
};

export const container = z.object({
  image: z.string().min(1).max(500),
  ignoreEntrypoint: z.boolean(),
  registryAuth: z.record(z.string(), z.object({ auth: z.string() })),
});
export type ContainerSpec = z.infer<typeof container>;
