// The address at which Dask clients reach the scheduler. Workers use the private one; clients outside the cluster's network reach
// the public one only.

/** `schedulerAddress` such as `tls://10.0.0.4:8786`, with its host replaced by the public address if clients are to use that. */
export function addressForClients(
  schedulerAddress: string,
  { publicAddress, usePublicAddress }: { publicAddress: string | null; usePublicAddress: boolean },
): string {
  if (publicAddress === null || !usePublicAddress) return schedulerAddress;
  const host = publicAddress.includes(':') ? `[${publicAddress}]` : publicAddress;
  return schedulerAddress.replace(/^(\w+:\/\/)(?:\[[^\]]*\]|[^:/]+)(:\d+)$/, `$1${host}$2`);
}
