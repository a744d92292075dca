// An agent's start on EC2: reads its identity from the metadata service, starts sending its logs to CloudWatch, and watches for
// EC2's notices.
import { logGroupOf, logStreamOf } from '../../domain/cloud-names.ts';
import type { Start, StartInput } from '../lifecycle/start-input.ts';
import { createRoleCredentials } from './credentials.ts';
import { readEc2Instance } from './instance.ts';
import { createLogShipper } from '../logs/log-shipper.ts';
import { createLogsApi, defaultLogsEndpoint } from './logs-api.ts';
import { createMetadata } from './metadata.ts';
import { watchNotices } from './notices.ts';
import { createEcrLogin } from './registry.ts';

/** Less than systemd's stop timeout, and than the time after a notice. */
const flushMs = 8_000;

export async function startOnEc2({ directory, environment, logs, log, signal }: StartInput): Promise<Start> {
  const emulated = environment['AWS_EC2_METADATA_SERVICE_ENDPOINT'];
  const metadata = createMetadata(emulated);
  const { id, region, boot } = await readEc2Instance({
    metadata,
    directory,
    cacheDir: environment['ROPEWALK_CACHE_DIR'] ?? null,
    isEmulated: emulated !== undefined,
  });
  const endpoint =
    environment['AWS_ENDPOINT_URL_LOGS'] ?? environment['AWS_ENDPOINT_URL'] ?? defaultLogsEndpoint(region);
  const ecrEndpoint = environment['AWS_ENDPOINT_URL_ECR'] ?? environment['AWS_ENDPOINT_URL'] ?? null;
  const credentials = createRoleCredentials(metadata);
  const { workspace, cluster } = boot.owner;
  const shipper = createLogShipper({
    api: createLogsApi({
      endpoint,
      region,
      group: logGroupOf(workspace),
      stream: logStreamOf(cluster, id),
      credentials,
    }),
    // The line is also shipped later and explains the gap.
    onTrouble: log.write,
  });
  logs.sendTo(shipper);
  return {
    instance: id,
    boot,
    watchNotices: (onNotice) => void watchNotices({ metadata, signal, onNotice, onTrouble: log.write }),
    registryLogin: createEcrLogin(credentials, ecrEndpoint),
    flush: () => shipper.close(flushMs),
  };
}
