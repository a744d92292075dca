// Reads and removes the provider's boot file: it contains the launch token, which no task may see.
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';

import { z } from 'zod';

const bootFile = z.object({
  apiUrl: z.url(),
  launchToken: z.string().min(1),
  address: z.string().min(1),
  /** Shared by the instances of one machine and kept between them: Python environments. */
  cacheDir: z.string().min(1),
  /** The command that powers off a machine dedicated to this agent; none on a shared machine. */
  powerOff: z.array(z.string().min(1)).min(1).nullable().default(null),
  owner: z.object({ deploymentId: z.string(), workspace: z.string(), cluster: z.number().int() }),
});
export type Boot = z.infer<typeof bootFile> & {
  /** The cloud's signed identity of this instance; absent without a cloud. */
  identity?: { document: string; signature: string };
  /** This machine's address for external clients; null when it has none. */
  publicAddress?: string | null;
  /** Its public name in DNS; null where it has none. */
  hostname?: string | null;
  /** Uptime of this machine; absent where the machine is shared. */
  upForMs?: () => number;
};

export async function readBoot(directory: string): Promise<Boot> {
  const path = join(directory, 'boot.json');
  const boot = bootFile.parse(JSON.parse(await readFile(path, 'utf8')));
  await rm(path, { force: true });
  return boot;
}
