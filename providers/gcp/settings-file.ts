// The JSON file that ROPEWALK_GCP_SETTINGS names: the network and resource names of a Google Cloud project, for one region or
// several. A process reads it at start. It holds no secret: Google's library finds the credentials by itself.
import { readFileSync } from 'node:fs';

import { z } from 'zod';

const deploymentId = z.string().regex(/^[A-Za-z0-9_-]{1,63}$/, 'must be the id of a deployment');

const download = z.strictObject({ url: z.url(), sha256: z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 hex digits') });
const regionName = z.string().regex(/^[a-z]+-[a-z]+\d{1,2}$/, 'must be the name of a region, e.g. us-central1');
/** Includes AI zones, such as us-central1-ai1a. */
const zoneName = z
  .string()
  .regex(/^[a-z]+-[a-z]+\d{1,2}-(ai\d)?[a-z]$/, 'must be the name of a zone, e.g. us-central1-a');
const resourceName = z.string().regex(/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/, 'must be the name of a resource');
const image = z
  .string()
  .regex(
    /^projects\/[a-z0-9-]+\/global\/images\/(family\/)?[a-z0-9-]+$/,
    'must be projects/P/global/images/[family/]NAME',
  );
const tags = z.array(resourceName).max(8);

const place = {
  /** The zones of the region that may be used. */
  zones: z.array(zoneName).min(1),
  subnetwork: resourceName,
};
const everywhere = {
  /** The deployment for which `ropewalk setup` made the resources; null in a file that was written by hand. */
  deployment: deploymentId.nullable().default(null),
  project: z.string().regex(/^[a-z][a-z0-9-]{4,28}[a-z0-9]$/, 'must be the id of a project'),
  network: resourceName,
  networkTags: z.strictObject({ cluster: tags.min(1), scheduler: tags.default([]) }),
  /** Email of the instances' service account, which may write logs. */
  serviceAccount: z.email(),
  /** By workspace, instead of `serviceAccount`. */
  workspaceServiceAccounts: z.record(z.string(), z.email()).default({}),
  assignPublicIps: z.boolean().default(true),
  images: z.strictObject({ x86_64: image, arm64: image }).default({
    x86_64: 'projects/ubuntu-os-cloud/global/images/family/ubuntu-2404-lts-amd64',
    arm64: 'projects/ubuntu-os-cloud/global/images/family/ubuntu-2404-lts-arm64',
  }),
  /** Ubuntu with an NVIDIA driver, for x86_64. */
  gpuImage: image.nullable().default(null),
  maxRunDays: z.number().int().min(1).max(120).default(30),
  /** Download of Node.js for instances, by architecture. */
  node: z.strictObject({ x86_64: download, arm64: download }),
  /** PEM of the API certificate's authority, when machines do not trust it by default. */
  apiCa: z
    .string()
    .regex(
      /^(-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----\s*)+$/,
      'must be certificates in PEM',
    )
    .nullable()
    .default(null),
};

const inRegion = ({ region, zones }: { region: string; zones: string[] }): boolean =>
  zones.every((zone) => zone.startsWith(`${region}-`));
const oneRegion = z
  .strictObject({ region: regionName, ...place, ...everywhere })
  .refine(inRegion, { path: ['zones'], error: 'must be zones of the region' });
const severalRegions = z
  .strictObject({ regions: z.record(regionName, z.strictObject(place)), defaultRegion: regionName, ...everywhere })
  .refine(({ regions, defaultRegion }) => Object.hasOwn(regions, defaultRegion), {
    path: ['defaultRegion'],
    error: 'must be one of the regions',
  });

/** The settings of one region. */
export type GcpFile = z.infer<typeof oneRegion>;

/**
 * The settings of every region in the file at `path`, the default one first.
 *
 * @throws Error that names the file and every problem in it.
 */
export function readGcpRegions(path: string): [GcpFile, ...GcpFile[]] {
  try {
    const json: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (typeof json !== 'object' || json === null || !('regions' in json)) return [oneRegion.parse(json)];
    const { regions, defaultRegion, ...common } = severalRegions.parse(json);
    const all = Object.entries(regions).map(([region, settings]) =>
      oneRegion.parse({ region, ...settings, ...common }),
    );
    const rank = ({ region }: GcpFile): number => (region === defaultRegion ? 0 : 1);
    const [first, ...rest] = all.toSorted((a, b) => rank(a) - rank(b));
    if (first === undefined) throw new Error('It has no region.');
    return [first, ...rest];
  } catch (error) {
    const what = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
    throw new Error(`The GCP settings in ${path} are not valid:\n${what}\ndocs/gcp.md describes them.`, {
      cause: error,
    });
  }
}
