// The permissions that Google checks for each operation of Compute Engine and Cloud Logging, as its reference lists them.
export interface Need {
  permission: string;
  /** `project`, or `account:EMAIL`. */
  resource: string;
}

const onProject = (...permissions: string[]): Need[] =>
  permissions.map((permission) => ({ permission: `compute.${permission}`, resource: 'project' }));

const fixed: Record<string, Need[]> = {
  'instances.get': onProject('instances.get'),
  'instances.insert': onProject('instances.create', 'disks.create', 'subnetworks.use'),
  'instances.delete': onProject('instances.delete'),
  'instances.aggregatedList': onProject('instances.list'),
  'disks.aggregatedList': onProject('disks.list'),
  'disks.delete': onProject('disks.delete'),
  'operations.aggregatedList': onProject('globalOperations.list'),
  'machineTypes.list': onProject('machineTypes.list'),
  'firewalls.insert': onProject('firewalls.create', 'networks.updatePolicy'),
  'firewalls.get': onProject('firewalls.get'),
  'firewalls.list': onProject('firewalls.list'),
  'firewalls.patch': onProject('firewalls.update', 'networks.updatePolicy'),
  'firewalls.delete': onProject('firewalls.delete', 'networks.updatePolicy'),
  'networks.get': onProject('networks.get'),
  'networks.insert': onProject('networks.create'),
  'networks.delete': onProject('networks.delete'),
  'subnetworks.get': onProject('subnetworks.get'),
  'subnetworks.aggregatedList': onProject('subnetworks.list'),
  'subnetworks.insert': onProject('subnetworks.create', 'networks.updatePolicy'),
  'subnetworks.delete': onProject('subnetworks.delete', 'networks.updatePolicy'),
  'projects.get': onProject('projects.get'),
  'regions.get': onProject('regions.get'),
  'regionOperations.get': onProject('regionOperations.get'),
  'zoneOperations.get': onProject('zoneOperations.get'),
  'globalOperations.get': onProject('globalOperations.get'),
  'regionOperations.wait': onProject('regionOperations.get'),
  'zoneOperations.wait': onProject('zoneOperations.get'),
  'globalOperations.wait': onProject('globalOperations.get'),
  'entries:list': [{ permission: 'logging.logEntries.list', resource: 'project' }],
  'entries:write': [{ permission: 'logging.logEntries.create', resource: 'project' }],
};

interface InsertBody {
  instanceProperties?: {
    labels?: object;
    tags?: { items?: string[] };
    metadata?: object;
    serviceAccounts?: { email?: string }[];
    networkInterfaces?: { accessConfigs?: object[] }[];
    disks?: { initializeParams?: { sourceImage?: string; labels?: object } }[];
  };
}

/** @throws Error for an operation without an entry in the table. */
export function needsOf(name: string, body: unknown, project: string): Need[] {
  if (name === 'bulkInsert') return ofInsert(typeof body === 'object' && body !== null ? body : {}, project);
  const found = fixed[name];
  if (found === undefined) throw new Error(`The permissions of ${name} are not known.`);
  return found;
}

function ofInsert({ instanceProperties: wanted = {} }: InsertBody, project: string): Need[] {
  const { labels = {}, tags, metadata, serviceAccounts = [], networkInterfaces = [], disks = [] } = wanted;
  const isPublic = networkInterfaces.some(({ accessConfigs = [] }) => accessConfigs.length > 0);
  const params = disks.map(({ initializeParams = {} }) => initializeParams);
  // Public images need no permission.
  const hasOwnImage = params.some(({ sourceImage = '' }) => sourceImage.startsWith(`projects/${project}/`));
  return [
    ...onProject('instances.create', 'disks.create', 'subnetworks.use'),
    ...(Object.keys(labels).length > 0 ? onProject('instances.setLabels') : []),
    ...((tags?.items ?? []).length > 0 ? onProject('instances.setTags') : []),
    ...(metadata === undefined ? [] : onProject('instances.setMetadata')),
    ...(isPublic ? onProject('subnetworks.useExternalIp') : []),
    ...(params.some(({ labels: of = {} }) => Object.keys(of).length > 0) ? onProject('disks.setLabels') : []),
    ...(hasOwnImage ? onProject('images.useReadOnly') : []),
    ...serviceAccounts.flatMap(({ email = '' }) => [
      ...onProject('instances.setServiceAccount'),
      { permission: 'iam.serviceAccounts.actAs', resource: `account:${email}` },
    ]),
  ];
}
