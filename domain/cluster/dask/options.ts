// Options of Dask's scheduler and workers that Ropewalk sets itself, because they decide who may connect and when a cluster ends. They are refused
// when a cluster is requested, and again when its processes are started.

/** `idle_timeout` would end the scheduler outside the cluster's own rules. */
export const reservedSchedulerOptions = [
  ...['host', 'port', 'protocol', 'interface', 'security', 'dashboard_address', 'idle_timeout', 'contact_address'],
] as const;

export const reservedWorkerOptions = [
  ...['host', 'port', 'worker_port', 'protocol', 'interface', 'security', 'dashboard_address', 'name'],
  ...['local_directory', 'scheduler_ip', 'scheduler_file', 'contact_address'],
] as const;

/** Returns the first reserved option, or null. */
export function reservedOption(options: Readonly<Record<string, unknown>>, reserved: readonly string[]): string | null {
  return reserved.find((name) => Object.hasOwn(options, name)) ?? null;
}
