// A file of this machine that goes with a job.
import { stat } from 'node:fs/promises';

export interface Found {
  /** In the working directory of a task, with `/`. */
  path: string;
  source: string;
  bytes: number;
  executable: boolean;
}

/** Null unless it is a regular file. */
export async function describeFile(source: string): Promise<Omit<Found, 'path'> | null> {
  const info = await stat(source).catch(() => null);
  if (info?.isFile() !== true) return null;
  return { source, bytes: info.size, executable: (info.mode & 0o111) !== 0 };
}
