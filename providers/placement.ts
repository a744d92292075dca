// The placement of a role in a launch on a cloud.
import type { InstanceRole } from '../domain/cluster/state.ts';
import { RopewalkError } from '../domain/errors.ts';
import type { LaunchRequest, Placement } from './provider.ts';

/** @throws RopewalkError VALIDATION for a launch without an instance type. */
export function placementOf(request: LaunchRequest, role: InstanceRole): Placement {
  const placement = request.placement?.[role];
  if (placement !== undefined && placement.types.length > 0) return placement;
  throw new RopewalkError({
    code: 'VALIDATION',
    field: 'vmTypes',
    message: `The launch names no instance type for its ${role === 'head' ? 'head instance' : 'workers'}.`,
    hint: 'Ask for instance types, or for cpu and memory.',
  });
}
