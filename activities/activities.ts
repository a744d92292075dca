// The types of all activities, for workflows, which may import nothing else from here.
import type { ArchiveActivities } from './archive.ts';
import type { InstanceActivities } from './instances.ts';
import type { NumberActivities } from './numbers.ts';

export type { InstanceActivities };
export type ControlActivities = ArchiveActivities & NumberActivities;
