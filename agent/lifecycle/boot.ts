// Reads what the provider left for this agent, and removes it: it holds the launch token, which no task may see.
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';

import { z } from 'zod';

const bootFile = z.object({
  apiUrl: z.url(),
  launchToken: z.string().min(1),
  address: z.string().min(1),
  /** Kept between instances and shared by those of one machine: Python environments. */
  cacheDir: z.string().min(1),
  /** The command that powers this machine off, where it exists for this agent alone; none on a machine of others. */
  powerOff: z.array(z.string().min(1)).min(1).nullable().default(null),
  owner: z.object({ deploymentId: z.string(), workspace: z.string(), cluster: z.number().int() }),
});
export type Boot = z.infer<typeof bootFile> & {
  /** What the cloud says of this instance, signed; absent where no cloud does. */
  identity?: { document: string; signature: string };
  /** How clients outside reach this machine; null where they cannot. */
  publicAddress?: string | null;
  /** Its public name in DNS; null where it has none. */
  hostname?: string | null;
  /** How long this machine is up; absent where it is not the instance's own. */
  upForMs?: () => number;
};

export async function readBoot(directory: string): Promise<Boot> {
  const path = join(directory, 'boot.json');
  const boot = bootFile.parse(JSON.parse(await readFile(path, 'utf8')));
  await rm(path, { force: true });
  return boot;
}
