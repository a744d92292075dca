// The body of regionInstances.bulkInsert as Google validates it: fields, values, and invalid combinations (discovery document of
// Compute Engine; documentation of machine families, GPUs, labels and metadata, 2026-08 to 2026-11).
import { z } from 'zod';

import { GcpError, invalid } from './gcp-error.ts';
import { machineTypeNamed } from './types.ts';
import type { MachineType } from './types.ts';
import type { EmulatedProject } from './project.ts';
import { imageNamed } from './images.ts';

const int64 = z.union([z.string().regex(/^\d+$/), z.number().int()]).transform(Number);
const resourceName = z.string().regex(/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/);
const labels = z
  .record(z.string().regex(/^[a-z][a-z0-9_-]{0,62}$/), z.string().regex(/^[a-z0-9_-]{0,63}$/))
  .refine((all) => Object.keys(all).length <= 64, 'at most 64 labels');
const bareName = z.string().regex(/^[a-z0-9-]+$/);
/** The client sends them empty. */
const empty = z.strictObject({}).optional();
const disk = z.strictObject({
  boot: z.literal(true),
  autoDelete: z.boolean().default(false),
  deviceName: resourceName.optional(),
  initializeParams: z.strictObject({
    sourceImage: z.string().regex(/^projects\/[a-z0-9-]+\/global\/images\/(family\/)?[a-z0-9-]+$/),
    diskSizeGb: int64.pipe(z.number().min(10).max(65_536)),
    diskType: z.enum(['pd-standard', 'pd-balanced', 'pd-ssd', 'pd-extreme', 'hyperdisk-balanced', 'hyperdisk-extreme']),
    labels: labels.default({}),
    provisionedIops: int64.pipe(z.number().min(3_000).max(160_000)).optional(),
    provisionedThroughput: int64.pipe(z.number().min(140).max(2_400)).optional(),
    resourceManagerTags: empty,
  }),
});
const metadata = z
  .strictObject({
    items: z
      .array(z.strictObject({ key: z.string().regex(/^[A-Za-z0-9_-]{1,128}$/), value: z.string().max(262_144) }))
      .default([]),
  })
  .refine(({ items }) => new Set(items.map(({ key }) => key)).size === items.length, 'a key twice')
  .refine(({ items }) => items.reduce((sum, { value }) => sum + value.length, 0) <= 524_288, 'at most 512 KB');
const scope = z
  .string()
  .regex(/^(https:\/\/www\.googleapis\.com\/auth\/[a-z._-]+|https:\/\/www\.googleapis\.com\/auth\/cloud-platform)$/);
const properties = z.strictObject({
  machineType: z.string().optional(),
  labels: labels.default({}),
  tags: z.strictObject({ items: z.array(resourceName).max(64) }).optional(),
  metadata: metadata.optional(),
  disks: z.array(disk).min(1),
  networkInterfaces: z
    .array(
      z.strictObject({
        network: z.string().optional(),
        subnetwork: z.string().optional(),
        accessConfigs: z
          .array(z.strictObject({ type: z.literal('ONE_TO_ONE_NAT'), name: z.string().optional() }))
          .max(1)
          .default([]),
      }),
    )
    .length(1),
  serviceAccounts: z
    .array(z.strictObject({ email: z.string(), scopes: z.array(scope).min(1) }))
    .max(1)
    .default([]),
  guestAccelerators: z
    .array(z.strictObject({ acceleratorType: bareName, acceleratorCount: z.number().int() }))
    .default([]),
  resourceManagerTags: empty,
  scheduling: z
    .strictObject({
      provisioningModel: z.enum(['STANDARD', 'SPOT']).default('STANDARD'),
      instanceTerminationAction: z.enum(['DELETE', 'STOP']).optional(),
      automaticRestart: z.boolean().optional(),
      onHostMaintenance: z.enum(['MIGRATE', 'TERMINATE']).optional(),
      maxRunDuration: z.strictObject({ seconds: int64, nanos: z.number().optional() }).optional(),
    })
    .default({ provisioningModel: 'STANDARD' }),
});
const request = z.strictObject({
  count: int64.pipe(z.number().max(5_000)),
  minCount: int64.optional(),
  perInstanceProperties: z.record(resourceName, z.strictObject({})),
  instanceProperties: properties,
  locationPolicy: z.strictObject({
    targetShape: z.enum(['ANY', 'ANY_SINGLE_ZONE', 'BALANCED']).default('ANY_SINGLE_ZONE'),
    locations: z
      .record(z.string().regex(/^zones\/[a-z0-9-]+$/), z.strictObject({ preference: z.enum(['ALLOW', 'DENY']) }))
      .default({}),
  }),
  instanceFlexibilityPolicy: z
    .strictObject({
      instanceSelections: z.record(
        resourceName,
        z.strictObject({
          machineTypes: z.array(bareName).min(1),
          rank: int64.default(0),
          disks: z.array(disk).optional(),
        }),
      ),
    })
    .optional(),
});
export type Request = z.infer<typeof request>;

export interface Shape {
  machineType: string;
  diskType: string;
  image: string;
}

/** @throws GcpError 400 */
export function parseRequest(body: unknown): Request {
  const wanted = request.safeParse(body);
  if (wanted.success) return wanted.data;
  const [issue] = wanted.error.issues;
  if (issue?.code === 'unrecognized_keys')
    throw invalid(`Invalid JSON payload received. Unknown name "${issue.keys[0]}": Cannot find field.`);
  throw invalid(`Invalid value for field: ${z.prettifyError(wanted.error)}`);
}

/** @throws GcpError 400 or 409 */
export function checkRequest(project: EmulatedProject, { count, minCount = count, ...wanted }: Request): void {
  const { scheduling, networkInterfaces, serviceAccounts, guestAccelerators } = wanted.instanceProperties;
  const names = Object.keys(wanted.perInstanceProperties);
  if (names.length !== count) throw invalid(`perInstanceProperties has ${names.length} names and count is ${count}.`);
  if (minCount < 1 || minCount > count) throw invalid("Invalid value for field 'resource.minCount'.");
  for (const location of Object.keys(wanted.locationPolicy.locations))
    if (!project.zones.includes(location.replace('zones/', '')))
      throw invalid(`Invalid value for field 'resource.locationPolicy.locations': '${location}'.`);
  const isSpot = scheduling.provisioningModel === 'SPOT';
  if (isSpot && (scheduling.automaticRestart !== false || scheduling.onHostMaintenance !== 'TERMINATE'))
    throw invalid(
      'Scheduling must have automaticRestart = false and onHostMaintenance = TERMINATE when SPOT is requested.',
    );
  if (guestAccelerators.length > 0 && scheduling.onHostMaintenance !== 'TERMINATE')
    throw invalid('Instances with guest accelerators do not support live migration.');
  if (scheduling.maxRunDuration !== undefined && scheduling.instanceTerminationAction === undefined)
    throw invalid('You must specify an instanceTerminationAction with a maxRunDuration.');
  const { seconds = 30 } = scheduling.maxRunDuration ?? {};
  if (seconds < 30 || seconds > 120 * 86_400) throw invalid('maxRunDuration must be 30 seconds to 120 days.');
  for (const { network = '', subnetwork = '' } of networkInterfaces) {
    const found = project.subnetworks.get(`${project.region}/${subnetwork.split('/').at(-1)}`);
    if (found === undefined || !subnetwork.includes(`regions/${project.region}/subnetworks/`))
      throw invalid(
        `Invalid value for field 'subnetwork': '${subnetwork}'. The referenced subnetwork resource cannot be found.`,
      );
    if (network !== '' && !network.endsWith(`global/networks/${found.network}`))
      throw new GcpError(400, 'wrongSubnetwork', `Subnetwork ${found.name} is not of network ${network}.`);
  }
  for (const { email } of serviceAccounts)
    if (!project.iam.accounts.has(email))
      throw invalid(`The resource '${email}' of type 'serviceAccount' was not found.`);
  for (const { acceleratorType, acceleratorCount } of guestAccelerators)
    if (attachable[acceleratorType]?.includes(acceleratorCount) !== true)
      throw invalid(`${acceleratorCount} of accelerator type '${acceleratorType}' cannot be attached.`);
  checkDisks(wanted);
  for (const { machineType, diskType, image } of shapesOf(wanted)) {
    const type = machineTypeNamed(machineType);
    if (type === undefined)
      throw invalid(`Machine type with name '${machineType}' does not exist in region '${project.region}'.`);
    if ((type.disks === 'hyperdisk') !== diskType.startsWith('hyperdisk'))
      throw invalid(`[${diskType}] features are not compatible for creating instance of ${machineType}.`);
    if (guestAccelerators.length > 0 && !machineType.startsWith('n1-'))
      throw invalid(`[${machineType}] features and [accelerator] are not compatible for creating instance.`);
    checkHost(type, machineType, scheduling);
    const { architecture } = imageNamed(project, image);
    if (architecture !== type.architecture)
      throw invalid(`The image ${image} is ${architecture}, and ${machineType} is ${type.architecture}.`);
  }
  const taken = names.find((name) => project.zones.some((zone) => project.shown(zone, name) !== null));
  if (taken !== undefined) throw new GcpError(409, 'alreadyExists', `The resource '${taken}' already exists`);
}

/** Google's documentation of GPUs on N1. */
const attachable: Readonly<Record<string, number[]>> = {
  'nvidia-tesla-t4': [1, 2, 4],
  'nvidia-tesla-p4': [1, 2, 4],
  'nvidia-tesla-p100': [1, 2, 4],
  'nvidia-tesla-v100': [1, 2, 4, 8],
};

/** A selection's disk replaces the disk with the same device name; under another name it would be a second boot disk. */
function checkDisks({
  instanceProperties,
  instanceFlexibilityPolicy,
}: Pick<Request, 'instanceProperties' | 'instanceFlexibilityPolicy'>): void {
  const selected = Object.values(instanceFlexibilityPolicy?.instanceSelections ?? {}).flatMap(
    ({ disks = [] }) => disks,
  );
  if (instanceFlexibilityPolicy !== undefined && instanceProperties.machineType !== undefined)
    throw invalid('A machine type and an instance flexibility policy cannot be specified together.');
  const devices = instanceProperties.disks.map(({ deviceName }) => deviceName);
  if (selected.some(({ deviceName }) => deviceName === undefined || !devices.includes(deviceName)))
    throw invalid('An instance has one boot disk: the disk of a selection has another device name.');
  for (const { initializeParams } of [...instanceProperties.disks, ...selected]) checkPerformance(initializeParams);
}

/** Documentation of Hyperdisk Balanced: 500 IOPS for a GiB, 0.25 MB/s for an IOPS. */
function checkPerformance({
  diskType,
  diskSizeGb,
  provisionedIops: iops,
  provisionedThroughput: throughput,
}: z.infer<typeof disk>['initializeParams']): void {
  if (iops === undefined && throughput === undefined) return;
  if (diskType !== 'hyperdisk-balanced') throw invalid(`${diskType} has no provisioned performance.`);
  if (iops !== undefined && iops > diskSizeGb * 500) throw invalid(`Too many IOPS for ${diskSizeGb} GB: ${iops}.`);
  if ((throughput ?? 140) > (iops ?? 3_000) / 4) throw invalid(`Too few IOPS for ${throughput} MB/s.`);
}

/** Types with GPUs end with their host, and on-demand E2 migrates to another one (documentation of the host maintenance policy). */
function checkHost(
  type: MachineType,
  name: string,
  { provisioningModel, onHostMaintenance = 'MIGRATE' }: Request['instanceProperties']['scheduling'],
): void {
  if (!type.migrates && onHostMaintenance !== 'TERMINATE')
    throw invalid(`Instances of ${name} do not support live migration.`);
  if (name.startsWith('e2-') && provisioningModel === 'STANDARD' && onHostMaintenance === 'TERMINATE')
    throw invalid('E2 instances do not support onHostMaintenance=TERMINATE unless they are preemptible.');
}

export function shapesOf({
  instanceProperties,
  instanceFlexibilityPolicy,
}: Pick<Request, 'instanceProperties' | 'instanceFlexibilityPolicy'>): Shape[] {
  const [{ initializeParams: common } = { initializeParams: { diskType: '', sourceImage: '' } }] =
    instanceProperties.disks;
  const shape = (
    machineType: string,
    { diskType, sourceImage: image }: Pick<typeof common, 'diskType' | 'sourceImage'>,
  ): Shape => ({
    ...{ machineType, diskType, image },
  });
  const selections = Object.values(instanceFlexibilityPolicy?.instanceSelections ?? {}).toSorted(
    (a, b) => a.rank - b.rank,
  );
  if (selections.length === 0) return [shape(instanceProperties.machineType ?? '', common)];
  return selections.flatMap(({ machineTypes: names, disks }) =>
    names.map((machineType) => shape(machineType, disks?.[0]?.initializeParams ?? common)),
  );
}
