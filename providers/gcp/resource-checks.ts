// Checks that the resources named in the settings exist and fit together: zones, network and subnetwork of each region, images,
// service accounts; and the quotas. `ropewalk doctor` runs it; otherwise the first launch finds a wrong name.
import { RopewalkError } from '../../domain/errors.ts';
import type { CheckWarning, Environment, ProviderCheck } from '../manifest.ts';
import { lastPart } from './names.ts';
import { describeQuotas, readQuotas } from './quotas.ts';
import { GoogleRefusal } from './refusal.ts';
import { type Calls, createCalls, orNull } from './setup/calls.ts';
import type { GcpFile } from './settings-file.ts';

export const resourceChecks = (files: readonly [GcpFile, ...GcpFile[]], env: Environment): ProviderCheck[] => [
  ...files.map((file) => check(`gcp network ${file.region}`, file, env, async (calls) => networkOf(calls, file))),
  check('gcp images', files[0], env, async (calls) => imagesOf(calls, files[0])),
  check('gcp service accounts', files[0], env, async (calls) => accountsOf(calls, files[0])),
  ...files.map((file) => check(`gcp quotas ${file.region}`, file, env, async (calls) => quotasOf(calls, file))),
];

const check = (
  name: string,
  { project }: GcpFile,
  env: Environment,
  find: (calls: Calls) => Promise<string | CheckWarning>,
): ProviderCheck => ({
  name,
  run: async (signal) => {
    try {
      return await find(createCalls(env, project, signal));
    } catch (cause) {
      if (!(cause instanceof GoogleRefusal)) throw cause;
      const message = `Google Cloud does not let this process look: ${cause.message}`;
      const hint = 'Give it the permissions of ops/gcp/control-plane.json: ropewalk setup gcp adds what a role lacks.';
      throw new RopewalkError({ code: 'UNAVAILABLE', message, hint }, { cause });
    }
  },
});

async function networkOf(calls: Calls, { project, region, zones, network, subnetwork }: GcpFile): Promise<string> {
  const read = <T>(path: string): Promise<T | null> =>
    orNull(calls.send<T>('compute', 'GET', `/compute/v1/projects/${project}/${path}`));
  const found = await read<{ zones?: string[] }>(`regions/${region}`);
  if (found === null) throw wrong('region', `The project ${project} has no region ${region}.`);
  const there = (found.zones ?? []).map(lastPart).toSorted();
  const missing = zones.filter((zone) => !there.includes(zone));
  if (missing.length > 0)
    throw wrong('zones', `The region ${region} has no zone ${missing.join(', ')}: it has ${there.join(', ')}.`);
  if ((await read(`global/networks/${network}`)) === null)
    throw wrong('network', `The project ${project} has no network ${network}.`);
  const subnet = await read<{ network?: string; ipCidrRange?: string }>(`regions/${region}/subnetworks/${subnetwork}`);
  if (subnet === null) throw wrong('subnetwork', `The region ${region} has no subnetwork ${subnetwork}.`);
  const of = lastPart(subnet.network);
  if (of !== network)
    throw wrong(
      'subnetwork',
      `The subnetwork ${subnetwork} in ${region} belongs to the network ${of}, not to ${network}.`,
    );
  return `network ${network}, subnetwork ${subnetwork} (${subnet.ipCidrRange}), ${zones.join(', ')}`;
}

async function quotasOf(calls: Calls, { project, region, assignPublicIps }: GcpFile): Promise<string | CheckWarning> {
  const { everywhere, inRegion } = await readQuotas(calls, project, region);
  return describeQuotas([...everywhere, ...inRegion], assignPublicIps);
}

async function imagesOf(calls: Calls, { images, gpuImage }: GcpFile): Promise<string> {
  const wanted = [
    { field: 'images.x86_64', image: images.x86_64, architecture: 'X86_64' },
    { field: 'images.arm64', image: images.arm64, architecture: 'ARM64' },
    ...(gpuImage === null ? [] : [{ field: 'gpuImage', image: gpuImage, architecture: 'X86_64' }]),
  ];
  const names = await Promise.all(wanted.map((each) => imageOf(calls, each)));
  return names.join(', ');
}

interface Image {
  name: string;
  status?: string;
  /** Absent for images older than Google's ARM machines. */
  architecture?: string;
  deprecated?: { state?: string };
}

async function imageOf(
  calls: Calls,
  { field, image, architecture }: { field: string; image: string; architecture: string },
): Promise<string> {
  const found = await orNull(calls.send<Image>('compute', 'GET', `/compute/v1/${image}`));
  if (found === null) throw wrong(field, `There is no image ${image}, or this process may not see it.`);
  const is = found.architecture ?? 'X86_64';
  if (is !== architecture) throw wrong(field, `The image ${image} is for ${is}, not for ${architecture}.`);
  const state = found.deprecated?.state;
  if (state === 'OBSOLETE' || state === 'DELETED')
    throw wrong(field, `The image ${image} is ${state.toLowerCase()}: no instance can be launched from it.`);
  if (found.status !== undefined && found.status !== 'READY')
    throw wrong(field, `The image ${image} is ${found.status.toLowerCase()}: no instance can be launched from it.`);
  return found.name;
}

const actAs = 'iam.serviceAccounts.actAs';

async function accountsOf(calls: Calls, { serviceAccount, workspaceServiceAccounts }: GcpFile): Promise<string> {
  const emails = [...new Set([serviceAccount, ...Object.values(workspaceServiceAccounts)])];
  for (const email of emails) {
    const { permissions = [] } = await calls
      .send<{ permissions?: string[] }>(
        'iam',
        'POST',
        `/v1/projects/-/serviceAccounts/${encodeURIComponent(email)}:testIamPermissions`,
        { permissions: [actAs] },
      )
      .catch(noneIfMissing);
    if (permissions.includes(actAs)) continue;
    throw new RopewalkError({
      code: 'FORBIDDEN',
      message: `This process may not launch instances as the service account ${email}, or there is none of that name.`,
      hint: `Grant it ${actAs} on that account, e.g. with roles/iam.serviceAccountUser (docs/gcp.md, "Permissions").`,
    });
  }
  return emails.join(', ');
}

/** For a missing account Google documents two answers: no permissions, and 404. */
function noneIfMissing(error: unknown): { permissions?: string[] } {
  if (error instanceof GoogleRefusal && error.status === 404) return {};
  throw error;
}

const wrong = (field: string, message: string) =>
  new RopewalkError({
    code: 'VALIDATION',
    field,
    message,
    hint: `Change ${field} in the file that ROPEWALK_GCP_SETTINGS names (docs/gcp.md).`,
  });
