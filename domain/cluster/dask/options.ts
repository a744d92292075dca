// Options of Dask's scheduler and workers that Ropewalk sets itself: they decide who may connect, and when a cluster
// ends. Refused where a cluster is asked for, and once more where its processes are started.

/** `idle_timeout` would end the scheduler behind the back of the cluster's own rules. */
export const reservedSchedulerOptions = [
  ...['host', 'port', 'protocol', 'interface', 'security', 'dashboard_address', 'idle_timeout', 'contact_address'],
] as const;

export const reservedWorkerOptions = [
  ...['host', 'port', 'worker_port', 'protocol', 'interface', 'security', 'dashboard_address', 'name'],
  ...['local_directory', 'scheduler_ip', 'scheduler_file', 'contact_address'],
] as const;

/** The first of these options that is reserved, or null. */
export function reservedOption(options: Readonly<Record<string, unknown>>, reserved: readonly string[]): string | null {
  return reserved.find((name) => Object.hasOwn(options, name)) ?? null;
}
