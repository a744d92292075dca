// instances.insert: one instance for each call, as other software launches. Ropewalk does not call it; the bench compares itself with it.
import { z } from 'zod';

import { GcpError, invalid } from './gcp-error.ts';
import type { EmulatedProject } from './project.ts';
import type { Operation } from './state.ts';
import { machineTypes } from './types.ts';

const body = z.object({
  name: z.string().regex(/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/),
  /** A part of a URL, unlike in bulkInsert. */
  machineType: z.string().regex(/^zones\/[a-z0-9-]+\/machineTypes\/[a-z0-9-]+$/),
  labels: z.record(z.string(), z.string()).default({}),
  disks: z.array(z.object({ boot: z.boolean(), initializeParams: z.object({ sourceImage: z.string() }) })).min(1),
  networkInterfaces: z.array(z.object({ subnetwork: z.string() })).min(1),
});

export function insertInstance(
  project: EmulatedProject,
  zone: string,
  raw: unknown,
  requestId: string | null,
): Operation {
  const earlier = project.operations.find(({ name }) => name === project.requests.get(requestId ?? ''));
  if (earlier !== undefined) return earlier;
  const wanted = body.safeParse(raw);
  if (!wanted.success) throw invalid(`Invalid value for field: ${z.prettifyError(wanted.error)}`);
  const { name, machineType: path, labels } = wanted.data;
  const machineType = path.split('/').at(-1) ?? '';
  if (!machineTypes.has(machineType) || path.split('/')[1] !== zone)
    throw invalid(`Invalid value for field 'resource.machineType': '${path}'.`);
  if (project.existing(zone, name) !== null)
    throw new GcpError(409, 'alreadyExists', `The resource '${name}' already exists`);
  project.launch({
    ...{ name, zone, requestId: requestId ?? '', machineType, diskType: 'pd-standard', market: 'on-demand', labels },
    ...{ accelerator: null, metadata: {}, serviceAccount: null, networkTags: [], maxRunSeconds: null },
    subnetwork: wanted.data.networkInterfaces[0]?.subnetwork.split('/').at(-1) ?? '',
    hasPublicIp: false,
  });
  const doneAtMs = project.clock.nowMs() + project.delays.pendingMs;
  const operation = project.operation({
    ...{ type: 'insert', scope: `zones/${zone}`, target: `zones/${zone}/instances/${name}`, groupId: null },
    ...{ doneAtMs: () => doneAtMs, error: null, perLocation: null },
  });
  if (requestId !== null) project.requests.set(requestId, operation.name);
  return operation;
}
