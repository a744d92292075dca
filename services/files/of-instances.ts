// File access of instances. Their right ends when they leave the cluster, not when their token expires.
import type { Readable } from 'node:stream';

import type { FileContent } from '../../platform/objects/files.ts';
import type { FileDownload, FileUpload } from '../../schema/files.ts';
import { requireLiveOrStopping } from '../agents/live-instance.ts';
import type { InstanceContext } from '../context.ts';
import { planDownloads, planUploads, receiveFile, sendFile, type SentFile } from './transfers.ts';

export async function planInstanceUploads(
  context: InstanceContext,
  wanted: readonly FileContent[],
): Promise<{ uploads: FileUpload[] }> {
  await requireLiveOrStopping(context);
  return planUploads(context.deps, context.actor.workspace, wanted);
}

export async function planInstanceDownloads(
  context: InstanceContext,
  sha256s: readonly string[],
): Promise<{ downloads: FileDownload[] }> {
  await requireLiveOrStopping(context);
  return planDownloads(context.deps, context.actor.workspace, sha256s);
}

export async function receiveInstanceFile(context: InstanceContext, sent: SentFile): Promise<void> {
  await requireLiveOrStopping(context);
  await receiveFile(context.deps, context.actor.workspace, sent);
}

export async function sendInstanceFile(
  context: InstanceContext,
  sha256: string,
): Promise<{ bytes: number; stream: Readable }> {
  await requireLiveOrStopping(context);
  return sendFile(context.deps, context.actor.workspace, sha256);
}
