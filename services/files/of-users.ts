// File access of users and programs; checks the scope of their token.
import type { Readable } from 'node:stream';

import type { FileContent } from '../../platform/objects/files.ts';
import type { FileDownload, FileUpload } from '../../schema/files.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context } from '../context.ts';
import { planDownloads, planUploads, receiveFile, sendFile, type SentFile } from './transfers.ts';

export async function planUserUploads(
  { deps, actor }: Context,
  wanted: readonly FileContent[],
): Promise<{ uploads: FileUpload[] }> {
  requireScope(actor, 'write');
  return planUploads(deps, actor.workspace, wanted);
}

export async function planUserDownloads(
  { deps, actor }: Context,
  sha256s: readonly string[],
): Promise<{ downloads: FileDownload[] }> {
  requireScope(actor, 'read');
  return planDownloads(deps, actor.workspace, sha256s);
}

export async function receiveUserFile({ deps, actor }: Context, sent: SentFile): Promise<void> {
  requireScope(actor, 'write');
  await receiveFile(deps, actor.workspace, sent);
}

export async function sendUserFile(
  { deps, actor }: Context,
  sha256: string,
): Promise<{ bytes: number; stream: Readable }> {
  requireScope(actor, 'read');
  return sendFile(deps, actor.workspace, sha256);
}
