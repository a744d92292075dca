// Open jobs and clusters in the database, while the stack starts or stops and before their workflows are given up.
import type { OpenRecord, Store } from '../store/store.ts';

type Records = Pick<Store['jobs'], 'listOpen'>;

const pageSize = 1_000;

/** Open jobs of all workspaces. */
export const countOpenJobs = async ({ jobs }: { jobs: Records }): Promise<number> => (await listOpen(jobs)).length;

/** `clusters` are those without a job. */
export async function countOpen({
  jobs,
  clusters,
}: {
  jobs: Records;
  clusters: Records;
}): Promise<{ jobs: number; clusters: number }> {
  const ofClusters = await listOpen(clusters);
  return { jobs: (await listOpen(jobs)).length, clusters: ofClusters.filter(({ job }) => job === null).length };
}

/** Numbers of all open clusters and jobs. The cluster of a job has the number of its job. */
export async function listOpenNumbers({ jobs, clusters }: { jobs: Records; clusters: Records }): Promise<Set<number>> {
  const open = [...(await listOpen(jobs)), ...(await listOpen(clusters))];
  return new Set(open.map(({ number }) => number));
}

async function listOpen(records: Records): Promise<OpenRecord[]> {
  const found: OpenRecord[] = [];
  for (let after = 0; ;) {
    const page = await records.listOpen({ after, limit: pageSize });
    found.push(...page);
    if (page.length < pageSize) return found;
    after = page.at(-1)?.number ?? after;
  }
}
