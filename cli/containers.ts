// Options for the container of a job's tasks or a cluster's processes, and for the preparation of instances.
import type { Command } from 'commander';

import type { CreateCluster } from '../sdk/client.ts';
import type { CliContext } from './context.ts';
import { UsageError } from './errors.ts';
import { readTextFile } from './text-file.ts';

export interface ContainerFlags {
  hostSetupScript?: string;
  container?: string;
  ignoreContainerEntrypoint?: string | boolean;
  registryAuth?: string;
}

/** `whose`: "the tasks", for the help. The entrypoint option's value is Coiled's. */
export const withContainer = (command: Command, whose: string): Command =>
  command
    .option(
      '--container <image>',
      `image of a container for ${whose}, e.g. ubuntu:24.04; instances need podman or docker`,
    )
    .option('--ignore-container-entrypoint <yes>', 'true: without the entrypoint of the image')
    .option('--host-setup-script <path>', 'script that each instance runs once, before anything else')
    .option('--registry-auth <path>', "file with credentials of the image's registry, as Docker's config.json");

/** The fields of a request. Throws UsageError. */
export async function containerOf(
  { cwd }: Pick<CliContext, 'cwd'>,
  { container, ignoreContainerEntrypoint: ignore, registryAuth: path, hostSetupScript: script }: ContainerFlags,
): Promise<Pick<CreateCluster, 'container' | 'ignoreContainerEntrypoint' | 'registryAuth' | 'hostSetupScript'>> {
  const registryAuth = path === undefined ? undefined : await readRegistryAuth(path, cwd);
  return {
    ...(container !== undefined && { container }),
    ...(ignore !== undefined && { ignoreContainerEntrypoint: saysYes('--ignore-container-entrypoint', ignore) }),
    ...(registryAuth !== undefined && { registryAuth }),
    ...(script !== undefined && { hostSetupScript: await readTextFile('--host-setup-script', script, cwd) }),
  };
}

/** The value of a flag for which Coiled's command line requires a value. Throws UsageError. */
export function saysYes(option: string, value: string | boolean): boolean {
  const text = String(value).toLowerCase();
  if (['true', '1', 'yes'].includes(text)) return true;
  if (['false', '0', 'no'].includes(text)) return false;
  throw new UsageError(`${option}: ${JSON.stringify(value)} is neither true nor false`);
}

/** Errors contain nothing of the file. */
async function readRegistryAuth(path: string, cwd: string): Promise<Record<string, { auth: string }>> {
  const text = await readTextFile('--registry-auth', path, cwd);
  let auths: unknown;
  try {
    auths = Reflect.get(Object(JSON.parse(text)), 'auths');
  } catch {
    throw new UsageError(`--registry-auth: ${path} is not JSON`);
  }
  const entries = Object.entries(Object(auths)).flatMap(([registry, entry]): [string, { auth: string }][] => {
    const auth: unknown = Reflect.get(Object(entry), 'auth');
    // Docker also writes registries as URLs.
    const name = registry.replace(/^https?:\/\//, '').replace(/\/$/, '');
    return typeof auth === 'string' ? [[name, { auth }]] : [];
  });
  if (entries.length > 0) return Object.fromEntries(entries);
  throw new UsageError(
    `--registry-auth: ${path} has no credentials: "docker login" with a credential helper keeps them elsewhere; ` +
      'write {"auths": {"REGISTRY": {"auth": "BASE64 OF user:password"}}}',
  );
}
