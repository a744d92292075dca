// The quotas of a Compute Engine project, and whether the smallest cluster fits: a new project reaches its quotas for external
// addresses and for disks before the one for vCPUs.
import type { CheckWarning } from '../manifest.ts';
import type { Calls } from './setup/calls.ts';

export interface Quota {
  /** Google's name, e.g. `N2_CPUS`. */
  metric: string;
  limit: number;
  usage: number;
}

/**
 * The quotas that limit Ropewalk's launches. pd-balanced counts as SSD, Hyperdisk does not (Google's documentation of quotas,
 * 2026-08).
 */
const relevant =
  /^(CPUS_ALL_REGIONS|GPUS_ALL_REGIONS|(PREEMPTIBLE_)?CPUS|[A-Z]\d\w*_CPUS|IN_USE_ADDRESSES|(SSD|HDB)_TOTAL_GB|(PREEMPTIBLE_)?NVIDIA_\w+_GPUS)$/;

/** @throws GoogleRefusal */
export async function readQuotas(
  calls: Calls,
  project: string,
  region: string,
): Promise<{ everywhere: Quota[]; inRegion: Quota[] }> {
  const read = async (path: string): Promise<Quota[]> => {
    const { quotas = [] } = await calls.send<{ quotas?: (Omit<Quota, 'usage'> & { usage?: number })[] }>(
      'compute',
      'GET',
      `/compute/v1/projects/${project}${path}`,
    );
    return quotas
      .filter(({ metric }) => relevant.test(metric))
      .map(({ metric, limit, usage = 0 }) => ({ metric, limit, usage }));
  };
  const [everywhere, inRegion] = await Promise.all([read(''), read(`/regions/${region}`)]);
  return { everywhere, inRegion };
}

export const quotaUnit = (metric: string): 'vCPU' | 'GPU' | 'address' | 'GB' => {
  if (metric.endsWith('_GB')) return 'GB';
  if (metric.endsWith('ADDRESSES')) return 'address';
  return /GPUS(_ALL_REGIONS)?$/.test(metric) ? 'GPU' : 'vCPU';
};

/** Usage of a head instance and one worker of the default size. */
const smallestCluster = { vcpus: 8, addresses: 2, diskGb: 60 };
/** Quotas of the families that are considered when a request names no type; this API does not report other families' quotas. */
const familyQuotas = ['N2_CPUS', 'N2D_CPUS'];

/** Describes usage and limits. Omits GPUs without a quota, which is the usual state of a project. */
export function describeQuotas(quotas: readonly Quota[], assignPublicIps: boolean): string | CheckWarning {
  const shown = quotas.filter(
    ({ metric, limit }) =>
      limit > 0 || (quotaUnit(metric) !== 'GPU' && !metric.startsWith('PREEMPTIBLE_')) || metric === 'GPUS_ALL_REGIONS',
  );
  const text = `used of what is permitted: ${shown.map(({ metric, limit, usage }) => `${metric} ${usage} of ${limit}`).join(', ')}`;
  const limitOf = (metric: string): number =>
    quotas.find((each) => each.metric === metric)?.limit ?? Number.POSITIVE_INFINITY;
  const low = [
    ...['CPUS_ALL_REGIONS'].filter((metric) => limitOf(metric) < smallestCluster.vcpus),
    ...(familyQuotas.every((metric) => limitOf(metric) < smallestCluster.vcpus) ? familyQuotas : []),
    ...['IN_USE_ADDRESSES'].filter((metric) => assignPublicIps && limitOf(metric) < smallestCluster.addresses),
    ...['SSD_TOTAL_GB'].filter((metric) => limitOf(metric) < smallestCluster.diskGb),
  ];
  if (low.length === 0) return text;
  const { vcpus, addresses, diskGb } = smallestCluster;
  const needs = `${vcpus} vCPUs, ${addresses} external addresses and ${diskGb} GB of disk`;
  return {
    text,
    hint: `A cluster of one worker has ${needs} unless it asks for less. Ask Google for more ${low.join(', ')}: IAM & Admin, Quotas, in the console.`,
  };
}
