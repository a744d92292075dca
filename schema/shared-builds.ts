// Environments that instances share: an agent's claim before it builds one, and the builder's reports.
import { z } from 'zod';

import { buildStages } from '../domain/environment/build-stages.ts';
import { maxUnpackedBytes } from '../domain/environment/limits.ts';
import { maxFileBytes } from '../domain/file-limits.ts';
import { spanMs } from './agent-numbers.ts';
import { sha256 } from './software.ts';

const claim = z.number().int().min(1).max(Number.MAX_SAFE_INTEGER);
const count = z.number().int().min(0);

export const buildClaimRequest = z.strictObject({
  /** The agent's hash of the environment: its packages as installed, and the interpreter. */
  hash: sha256,
  /** Operating system, C library, processor and interpreter. */
  platform: z.string().regex(/^[\x20-\x7e]{1,400}$/, 'printable ASCII characters, at most 400'),
  /** An archive that this instance downloaded and could not use. */
  damaged: sha256.nullable(),
});

/** `url`: a signed GET from the bucket, valid for an hour; null: GET /v1/agent/environment-archives/{build}/{sha256}. */
export const buildClaimAnswer = z.discriminatedUnion('do', [
  z.object({
    do: z.literal('download'),
    build: z.string(),
    sha256: z.string(),
    bytes: count,
    unpackedBytes: count,
    url: z.string().nullable(),
  }),
  z.object({
    do: z.literal('build'),
    build: z.string(),
    claim: z.number().int(),
    /** The builder must renew at least this often. */
    renewEveryMs: count,
    /** Maximum size of an archive; a larger one is not stored. */
    maxBytes: count,
  }),
  /** Another instance builds it. `stage`: its current stage, null until it has reported one. */
  z.object({ do: z.literal('wait'), retryAfterMs: count, stage: z.enum(buildStages).nullable() }),
  /** Not shared: the instance builds its own environment. */
  z.object({ do: z.literal('alone') }),
]);
export type BuildClaimAnswer = z.infer<typeof buildClaimAnswer>;

export const buildParams = z.object({ build: sha256 });

/** `building`: the builder works on `stage`. The others: it will store no archive. */
export const buildProgress = z.strictObject({
  claim,
  state: z.enum(['building', 'failed', 'too-large']),
  stage: z.enum(buildStages).optional(),
});
export type BuildProgress = z.output<typeof buildProgress>;
/** False when its archive no longer matters. */
export const buildProgressAnswer = z.object({ isWanted: z.boolean() });

/** Sent before the upload, and again after it. */
export const buildArchive = z.strictObject({
  claim,
  sha256,
  bytes: count.min(1).max(maxFileBytes),
  unpackedBytes: count.min(1).max(maxUnpackedBytes),
  buildMs: spanMs,
  /** Its requirements determine every version. */
  isPinned: z.boolean(),
});
export type BuildArchive = z.output<typeof buildArchive>;

/** `upload`: the URL for its bytes; `url` null: PUT /v1/agent/environment-archives/{build}/{sha256}. */
export const buildArchiveAnswer = z.discriminatedUnion('state', [
  z.object({
    state: z.literal('upload'),
    url: z.string().nullable(),
    headers: z.record(z.string(), z.string()),
  }),
  z.object({ state: z.literal('stored') }),
  /** Another archive of it is the valid one. */
  z.object({ state: z.literal('unwanted') }),
]);
export type BuildArchiveAnswer = z.infer<typeof buildArchiveAnswer>;

export const buildArchiveParams = z.object({ build: sha256, sha256 });
