// Requires that the files of a request were uploaded before it.
import { RopewalkError } from '../../domain/errors.ts';
import { findOwnClash } from '../../domain/file-path.ts';
import type { FileContent } from '../../platform/objects/files.ts';
import type { StoredFile } from '../../schema/files.ts';
import type { Deps } from '../context.ts';
import { missingFiles } from './transfers.ts';

/** @throws RopewalkError VALIDATION that names the first file with missing content or a duplicate path. */
export async function requireStored(
  deps: Pick<Deps, 'files'>,
  workspace: string,
  { files, field }: { files: readonly StoredFile[]; field: string },
): Promise<void> {
  const clash = findOwnClash(files.map(({ path }) => path));
  if (clash !== null) {
    const path = files[clash.index]?.path;
    const why = path === clash.other ? 'is there twice.' : 'lies below another file of the list.';
    throw invalid(`${field}.${clash.index}.path`, `${JSON.stringify(path)} ${why}`);
  }
  const missing = new Set(await missingFiles(deps, workspace, files));
  const index = files.findIndex(({ sha256 }) => missing.has(sha256));
  if (index === -1) return;
  const path = JSON.stringify(files[index]?.path);
  throw invalid(`${field}.${index}`, `${path} has not been uploaded to this workspace with this size and SHA-256.`);
}

/** @throws RopewalkError VALIDATION */
export async function requireStoredList(
  deps: Pick<Deps, 'files'>,
  workspace: string,
  list: FileContent | undefined,
): Promise<void> {
  if (list === undefined || (await missingFiles(deps, workspace, [list])).length === 0) return;
  throw invalid('mapOver.list', 'it has not been uploaded to this workspace with this size and SHA-256.');
}

const invalid = (field: string, message: string) =>
  new RopewalkError({
    code: 'VALIDATION',
    field,
    message: `${field}: ${message}`,
    hint: 'Upload with POST /v1/file-uploads, then send this request again.',
  });
