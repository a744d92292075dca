// Files of jobs: uploads before a job starts, output files of tasks, and their transfer.
import { z } from 'zod';

import { isFilePath, maxPathBytes } from '../domain/file-path.ts';
import {
  maxFileBytes,
  maxFilesAtOnce,
  maxFilesOfTask,
  maxInputFiles,
  maxInputListBytes,
} from '../domain/file-limits.ts';
import { filestoreSyntax } from '../domain/job/file-options.ts';
import { sha256 } from './software.ts';

const bytes = z.number().int().min(0).max(maxFileBytes, 'a file may have at most 5 GiB');
const count = z.number().int().min(0);

/** A file: its path below a task's working directory, and the SHA-256 of its content. */
export const storedFile = z.strictObject({
  path: z
    .string()
    .min(1)
    .max(maxPathBytes)
    .refine(isFilePath, 'must be a relative path of real names, without ".." and NUL'),
  sha256,
  bytes,
  executable: z.boolean().default(false),
});
export type StoredFile = z.output<typeof storedFile>;

/** The inputs of a job's tasks, one on each line. */
export const inputList = z.strictObject({
  sha256,
  bytes: z.number().int().min(1).max(maxInputListBytes, 'a list of inputs may have at most 256 MiB'),
  /** Number of lines. */
  count: z.number().int().min(1),
});

export const inputFiles = z.array(storedFile).max(maxInputFiles);

export const filestoreName = z
  .string()
  .regex(filestoreSyntax, 'lower-case letters, digits, ".", "_" and "-", at most 100');
export const filestoreParams = z.object({ name: filestoreName });

export const fileUploadsRequest = z.strictObject({
  files: z.array(z.strictObject({ sha256, bytes })).min(1).max(maxFilesAtOnce),
});

/** The files that are not stored yet. `url` is a signed PUT to the bucket, valid for an hour; null: PUT /v1/file-blobs/{sha256}. */
export const fileUploads = z.object({
  uploads: z.array(
    z.object({ sha256: z.string(), url: z.string().nullable(), headers: z.record(z.string(), z.string()) }),
  ),
});
export type FileUpload = z.infer<typeof fileUploads>['uploads'][number];

export const fileDownloadsRequest = z.strictObject({ sha256s: z.array(sha256).min(1).max(maxFilesAtOnce) });

/** `url` is a signed GET from the bucket, valid for an hour; null: GET /v1/file-blobs/{sha256}. */
export const fileDownloads = z.object({
  downloads: z.array(z.object({ sha256: z.string(), isStored: z.boolean(), url: z.string().nullable() })),
});
export type FileDownload = z.infer<typeof fileDownloads>['downloads'][number];

export const blobParams = z.object({ sha256 });

/** The output files of one attempt of a task; all of them appear at once. */
export const taskFiles = z.strictObject({
  task: count,
  taskId: count,
  attempt: count.max(9_999),
  files: z.array(storedFile).max(maxFilesOfTask),
});
export type TaskFiles = z.output<typeof taskFiles>;

/** Contents that were not uploaded; if there are any, nothing was recorded. */
export const storedTaskFiles = z.object({ missing: z.array(z.string()) });

export const addFiles = z.strictObject({ files: inputFiles.min(1) });

export const listedFile = z.object({
  path: z.string(),
  sha256: z.string(),
  bytes: count,
  executable: z.boolean(),
  /** Null for a file that a user added. */
  job: count.nullable(),
  task: count.nullable(),
  storedAt: z.iso.datetime(),
});
export type ListedFile = z.infer<typeof listedFile>;
export const filePage = z.object({ items: z.array(listedFile), next: z.string().nullable() });
export type FilePage = z.infer<typeof filePage>;
/** The `next` of an earlier page. */
export const filesQuery = z.object({
  after: z
    .string()
    .max(200)
    .regex(/^[a-z0-9-]+$/)
    .optional(),
});
