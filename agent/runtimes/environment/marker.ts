// The marker of a complete directory; it describes the content.
import { constants } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { writeNew } from './files.ts';
import { markerFile } from './in-use.ts';
import type { Tools } from './run-tool.ts';

/** Written last, before the rename. */
export async function writeMarker(tools: Tools, directory: string, content: object): Promise<void> {
  const text = `${JSON.stringify(content, null, 2)}\n`;
  // Not synced: a user's own cache is on a machine that does not outlive a system crash.
  if (tools.user !== null) return writeNew(tools, join(directory, markerFile), text);
  const file = await open(join(directory, markerFile), 'wx');
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Its owner may have put a link or a named pipe there. */
const asItIs = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

export async function isMarked(directory: string, hash: string): Promise<boolean> {
  const marker = await readFile(join(directory, markerFile), { encoding: 'utf8', flag: asItIs }).catch(() => '');
  return marker.includes(`"${hash}"`);
}
