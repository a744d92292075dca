// The JSON file that ROPEWALK_AWS_SETTINGS names: the network and resource names of an AWS account, for one region or several.
// A process reads it at start. It holds no secret: the AWS SDK finds the credentials by itself.
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';

import { z } from 'zod';

const deploymentId = z.string().regex(/^[A-Za-z0-9_-]{1,63}$/, 'must be the id of a deployment');

const download = z.strictObject({ url: z.url(), sha256: z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 hex digits') });

/** User data has little room for it. */
const maxCaBytes = 6_000;

function isCertificates(text: string): boolean {
  const found = text.match(/-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g) ?? [];
  return found.length > 0 && text.length <= maxCaBytes && found.every(isCertificate) && rest(text, found) === '';
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}

/** The text becomes part of a shell script. */
const rest = (text: string, found: readonly string[]): string =>
  found.reduce((left, each) => left.replace(each, ''), text).trim();

const regionName = z.string().regex(/^[a-z]{2}(-[a-z]+)+-\d{1,2}$/, 'must be the name of a region, e.g. us-east-1');

const subnets = z.array(z.strictObject({ id: z.string().startsWith('subnet-'), zone: z.string().min(1) })).min(1);

const network = {
  /** One subnet per zone. */
  subnets,
  /** Private subnets in the same zones, for workers without public addresses. */
  workerSubnets: subnets.nullable().default(null),
  securityGroups: z.strictObject({
    cluster: z.string().startsWith('sg-'),
    scheduler: z.array(z.string().startsWith('sg-')).max(4).default([]),
  }),
  assignPublicIps: z.boolean().default(true),
};

/** Another account: its network, and the role that the control plane assumes there. */
const account = z.strictObject({
  roleArn: z
    .string()
    .regex(/^arn:aws[a-z-]*:iam::\d{12}:role\/[\w+=,.@/-]+$/, 'must be arn:aws:iam::ACCOUNT:role/NAME'),
  /** A random value that the role's trust policy requires. */
  externalId: z.string().regex(/^[\w+=,.@:/-]{2,1224}$/, 'must be 2 to 1224 of the characters that STS takes'),
  instanceProfile: z.string().min(1).nullable().default(null),
  ...network,
});

const place = {
  ...network,
  instanceProfile: z.string().min(1).nullable().default(null),
  /** Maps a workspace to the AWS account of its instances. */
  workspaceAccounts: z.record(z.string(), account).default({}),
  /** Maps a workspace to its own instance profile, whose role may read data that other workspaces must not. */
  workspaceProfiles: z.record(z.string(), z.string().min(1)).default({}),
  /** Ubuntu with an NVIDIA driver, for x86_64: an image of the region, or a public parameter of Systems Manager that names one. */
  gpuImage: z
    .string()
    .regex(
      /^(ami-[0-9a-f]{17}|\/aws\/service\/deeplearning\/ami\/[a-z0-9_./-]+)$/,
      'must be ami-... or /aws/service/deeplearning/ami/...',
    )
    .nullable()
    .default(null),
};
const everywhere = {
  /** The deployment for which `ropewalk setup` made the resources; null in a file that was written by hand. */
  deployment: deploymentId.nullable().default(null),
  /** Download of Node.js for instances, by architecture. */
  node: z.strictObject({ x86_64: download, arm64: download }),
  /** PEM of the API certificate's authority, when machines do not trust it by default. */
  apiCa: z.string().refine(isCertificates, 'must be certificates in PEM').nullable().default(null),
};

interface Zoned {
  zone: string;
}

/** A cluster's head instance and workers are launched in one zone. */
const zonesAgree = ({ subnets: all, workerSubnets }: { subnets: Zoned[]; workerSubnets: Zoned[] | null }): boolean =>
  workerSubnets === null || zonesOf(all) === zonesOf(workerSubnets);
const zonesOf = (list: readonly Zoned[]): string =>
  [...new Set(list.map(({ zone }) => zone))].toSorted((a, b) => (a < b ? -1 : 1)).join(' ');

/** The zone is chosen before the account is known. */
const accountsAgree = ({ subnets: all, workspaceAccounts }: Accounts): boolean =>
  Object.values(workspaceAccounts).every((one) => zonesOf(one.subnets) === zonesOf(all) && zonesAgree(one));
interface Accounts {
  subnets: Zoned[];
  workspaceAccounts: Record<string, { subnets: Zoned[]; workerSubnets: Zoned[] | null }>;
}
const accountZones = { path: ['workspaceAccounts'], error: 'must have subnets in the zones of subnets, one in each' };
const sameZones = { path: ['workerSubnets'], error: 'must be in the zones of subnets, one in each' };

const onePlace = z.strictObject(place).refine(zonesAgree, sameZones).refine(accountsAgree, accountZones);
const oneRegion = z
  .strictObject({ region: regionName, ...place, ...everywhere })
  .refine(zonesAgree, sameZones)
  .refine(accountsAgree, accountZones);
const severalRegions = z
  .strictObject({ regions: z.record(regionName, onePlace), defaultRegion: regionName, ...everywhere })
  .refine(({ regions, defaultRegion }) => Object.hasOwn(regions, defaultRegion), {
    path: ['defaultRegion'],
    error: 'must be one of the regions',
  });

/** The settings of one region. */
export type AwsFile = z.infer<typeof oneRegion>;

export interface AwsRegions {
  /** The default region first. */
  regions: [AwsFile, ...AwsFile[]];
}

/**
 * The settings of the default region in the file at `path`.
 *
 * @throws Error that names the file and every problem in it.
 */
export function readAwsSettings(path: string): AwsFile {
  return readAwsRegions(path).regions[0];
}

/**
 * The settings of every region in the file at `path`.
 *
 * @throws Error that names the file and every problem in it.
 */
export function readAwsRegions(path: string): AwsRegions {
  try {
    const json: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (typeof json !== 'object' || json === null || !('regions' in json)) {
      return { regions: [oneRegion.parse(json)] };
    }
    const { regions, defaultRegion, ...common } = severalRegions.parse(json);
    const all = Object.entries(regions).map(([region, settings]) => ({ region, ...settings, ...common }));
    const [first, ...rest] = all.toSorted((a, b) => rank(a, defaultRegion) - rank(b, defaultRegion));
    if (first === undefined) throw new Error('It has no region.');
    return { regions: [first, ...rest] };
  } catch (error) {
    const what = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
    throw new Error(`The AWS settings in ${path} are not valid:\n${what}\ndocs/aws.md describes them.`, {
      cause: error,
    });
  }
}

const rank = ({ region }: AwsFile, defaultRegion: string): number => (region === defaultRegion ? 0 : 1);
