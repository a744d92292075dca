// The types of all activities, for workflows, which may import nothing else from here.
import type { ArchiveActivities } from './archive.ts';
import type { EndedActivities } from './ended.ts';
import type { HealActivities } from './heal.ts';
import type { InstanceActivities } from './instances.ts';
import type { NumberActivities } from './numbers.ts';
import type { SweepListActivities } from './sweep-list.ts';
import type { SweepActivities } from './sweep.ts';

export type { EndedActivities, HealActivities, InstanceActivities, SweepActivities, SweepListActivities };
export type ControlActivities = ArchiveActivities & NumberActivities;
