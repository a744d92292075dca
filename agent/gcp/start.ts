// An agent's start on Compute Engine: reads its identity from the metadata server, starts sending its logs to Cloud Logging,
// and waits for a preemption notice.
import type { Start, StartInput } from '../lifecycle/start-input.ts';
import { createLogShipper } from '../logs/log-shipper.ts';
import { createAccessToken } from './access-token.ts';
import { readGceInstance } from './instance.ts';
import { createLogsApi, defaultLogsEndpoint } from './logs-api.ts';
import { createMetadata } from './metadata.ts';
import { watchPreemption } from './notices.ts';
import { createArtifactRegistryLogin } from './registry.ts';

/** Less than the 30 s after a notice, and than systemd's stop timeout. */
const flushMs = 8_000;

export async function startOnGce({ directory, environment, logs, log, signal }: StartInput): Promise<Start> {
  const emulated = environment['GCE_METADATA_HOST'] ?? null;
  const metadata = createMetadata(emulated);
  const instance = await readGceInstance({
    metadata,
    directory,
    cacheDir: environment['ROPEWALK_CACHE_DIR'] ?? null,
    isEmulated: emulated !== null,
  });
  const endpoint = environment['CLOUDSDK_API_ENDPOINT_OVERRIDES_LOGGING'] ?? defaultLogsEndpoint;
  const token = createAccessToken(metadata);
  const shipper = createLogShipper({
    api: createLogsApi({ endpoint, instance, token }),
    // The line is also shipped later and explains the gap.
    onTrouble: log.write,
  });
  logs.sendTo(shipper);
  return {
    instance: instance.name,
    boot: instance.boot,
    watchNotices: (onNotice) => void watchPreemption({ metadata, signal, onNotice, onTrouble: log.write }),
    registryLogin: createArtifactRegistryLogin(token),
    flush: () => shipper.close(flushMs),
  };
}
