// The Python environment of a cluster or a job: the request, and the complete definition for agents.
import { z } from 'zod';

import { maxIndexes, maxLeftOut, maxPackageFiles, maxRequirements } from '../domain/software/limits.ts';

/** A Python requirement (PEP 508), e.g. `pandas==2.3.1`. */
const requirement = z.string().min(1).max(500);

/** Lower-case hexadecimal. */
export const sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in lower-case hexadecimal');

/**
 * A file uploaded with PUT /v1/package-files/{sha256}: a wheel, which is installed, or a zip file of modules, which can be imported like the files
 * beside a script.
 */
export const packageFile = z.strictObject({
  name: z
    .string()
    .max(200)
    .regex(/^[A-Za-z0-9][A-Za-z0-9._+!-]*\.(whl|zip)$/, 'the name of a .whl or .zip file, without a directory'),
  sha256,
});
export type PackageFile = z.infer<typeof packageFile>;

/** A package that a client left out of an environment, for the hint when a program cannot import it. */
const leftOut = z.strictObject({
  name: z.string().min(1).max(200),
  why: z.string().min(1).max(200),
  /** Its import names. */
  imports: z.array(z.string().max(200)).max(20).default([]),
});
export type LeftOut = z.output<typeof leftOut>;

/** A package index that requires credentials. They are sealed, and only the program that installs packages receives them. */
const packageIndex = z.strictObject({
  /** Without credentials. */
  url: z
    .url({ protocol: /^https?$/ })
    .max(1_000)
    .refine((url) => !/:\/\/[^/]*@/.test(url), 'must have no credentials: they have fields of their own')
    .refine((url) => !/[\s\\]|\$\{/.test(url), 'cannot contain blanks, backslashes or ${...}'),
  username: z.string().max(1_000).default(''),
  password: z.string().max(10_000).default(''),
  /** Replaces the instance's own index; other indexes are searched before it. */
  default: z.boolean().default(false),
});
export type PackageIndex = z.output<typeof packageIndex>;

export const software = z.strictObject({
  requirements: z.array(requirement).max(maxRequirements).default([]),
  /** The requirements are a whole environment: their versions hold even where a package requires another one. */
  pinned: z.boolean().default(false),
  /** Version of the interpreter, e.g. `3.12`; by default the instance's own. */
  python: z
    .string()
    .regex(/^3\.\d{1,2}$/, 'a version of Python as in "3.12"')
    .optional(),
  /** Absolute path of the caller's Python: an instance with the required version at that path uses it, as the caller's machine does. */
  interpreter: z
    .string()
    .max(1_000)
    // As ranges, because tools that read the document do not support \p{Cc}.
    .regex(/^\/[^\u0000-\u001f\u007f-\u009f]*$/, 'the absolute path of a Python')
    .optional(),
  packageFiles: z.array(packageFile).max(maxPackageFiles).default([]),
  indexes: z.array(packageIndex).max(maxIndexes).default([]),
  leftOut: z.array(leftOut).max(maxLeftOut).default([]),
});
export type Software = z.output<typeof software>;

/** The same fields, all present. */
export const environment = z.object({
  requirements: z.array(z.string()),
  pinned: z.boolean(),
  /** Null for the instance's own. */
  python: z.string().nullable(),
  interpreter: z.string().nullable(),
  packageFiles: z.array(z.object({ name: z.string(), sha256: z.string() })),
  indexes: z.array(packageIndex),
  leftOut: z.array(leftOut),
});
export type EnvironmentSpec = z.infer<typeof environment>;

export const packageFileParams = z.object({ sha256 });
export const missingPackageFilesRequest = z.strictObject({ sha256s: z.array(sha256).min(1).max(maxPackageFiles) });
export const missingPackageFiles = z.object({ missing: z.array(z.string()) });
