// The scheduler's address for Dask clients. Workers use the private address; clients outside the cluster's network can reach only the public one.

/** Replaces the host of `schedulerAddress`, such as `tls://10.0.0.4:8786`, by the public address if clients use that. */
export function addressForClients(
  schedulerAddress: string,
  { publicAddress, usePublicAddress }: { publicAddress: string | null; usePublicAddress: boolean },
): string {
  if (publicAddress === null || !usePublicAddress) return schedulerAddress;
  const host = publicAddress.includes(':') ? `[${publicAddress}]` : publicAddress;
  return schedulerAddress.replace(/^(\w+:\/\/)(?:\[[^\]]*\]|[^:/]+)(:\d+)$/, `$1${host}$2`);
}
