// The quotas that a project and its regions show: those of a new project, unless a test sets others.
import { linkOf } from './shapes.ts';
import { isLive } from './state.ts';
import type { Instance } from './state.ts';
import { machineTypeNamed } from './types.ts';
import type { EmulatedProject } from './project.ts';

interface Metric {
  metric: string;
  limit: number;
  usage: number;
}

const ofProject: Record<string, number> = { CPUS_ALL_REGIONS: 32, GPUS_ALL_REGIONS: 0, NETWORKS: 5 };
const ofRegion: Record<string, number> = {
  ...{ CPUS: 24, N2_CPUS: 8, N2D_CPUS: 8, PREEMPTIBLE_CPUS: 0, NVIDIA_T4_GPUS: 1 },
  ...{ IN_USE_ADDRESSES: 8, SSD_TOTAL_GB: 500, STATIC_ADDRESSES: 8 },
};

/** In the form of `projects.get`. */
export const shownProject = (project: EmulatedProject): object => ({
  ...{ kind: 'compute#project', id: '1234567890', name: project.id },
  quotas: quotasOf(project, ofProject),
  selfLink: linkOf(project, '').replace(/\/$/, ''),
});

export const regionQuotas = (project: EmulatedProject): Metric[] => quotasOf(project, ofRegion);

function quotasOf(project: EmulatedProject, limits: Record<string, number>): Metric[] {
  const live = project.instances.filter((instance) => isLive(instance, project.clock.nowMs()));
  return Object.entries(limits).map(([metric, limit]) => ({
    ...{ metric, limit: project.quotas.get(metric) ?? limit },
    usage: live.reduce((sum, instance) => sum + usedBy(instance, metric), 0),
  }));
}

function usedBy({ machineType, market }: Instance, metric: string): number {
  const vcpus = machineTypeNamed(machineType)?.vcpus ?? 0;
  const family = `${machineType.split('-')[0]?.toUpperCase()}_CPUS`;
  if (metric === 'IN_USE_ADDRESSES') return 1;
  if (metric === 'CPUS_ALL_REGIONS') return vcpus;
  if (market === 'spot') return metric === 'PREEMPTIBLE_CPUS' ? vcpus : 0;
  return metric === family || (metric === 'CPUS' && !(family in ofRegion)) ? vcpus : 0;
}
