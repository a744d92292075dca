// Content of files, which may be large: never whole in memory. A bucket uses signed URLs, so that users and instances transfer
// bytes without the control plane; a directory is read and written as a stream. A half-written object is never visible.
import type { Readable } from 'node:stream';

export interface FileContent {
  bytes: number;
  /** Lower-case hexadecimal. */
  sha256: string;
}

interface Common {
  /** Bytes of the object; null when there is none. */
  size(key: string): Promise<number | null>;
}

export interface SignedFiles extends Common {
  kind: 'signed';
  /** A PUT that the bucket accepts only with exactly these bytes; the headers must be sent. */
  uploadUrl(key: string, content: FileContent): Promise<{ url: string; headers: Record<string, string> }>;
  downloadUrl(key: string): Promise<string>;
}

export interface StreamedFiles extends Common {
  kind: 'streamed';
  /** Stores the content after all of it has arrived. @throws RopewalkError VALIDATION for another SHA-256, TOO_LARGE. */
  write(key: string, source: AsyncIterable<Uint8Array>, content: { sha256: string; maxBytes: number }): Promise<void>;
  /** null when there is no such object. */
  read(key: string): Promise<{ bytes: number; stream: Readable } | null>;
}

export type FileStore = SignedFiles | StreamedFiles;
