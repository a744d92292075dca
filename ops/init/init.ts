// `ropewalk init`: prepares a Temporal namespace for Ropewalk and prints what it changed. Safe to repeat.
import { configuredPlaces } from '../clouds.ts';
import { loadHost } from '../host.ts';
import { reporting, type Said } from '../report.ts';
import { withTemporal } from '../temporal.ts';
import { prepareTemporal, usualSettings } from './prepare.ts';

export interface InitOptions {
  env: Record<string, string | undefined>;
  home: string;
  namespace?: string | undefined;
  retentionDays?: number | undefined;
  /** False where the server keeps search attributes to itself and somebody else has added them. */
  searchAttributes: boolean;
  format: 'table' | 'json';
}

/** The exit code. */
export async function runInit(options: InitOptions, said: Said): Promise<number> {
  return reporting(said, () =>
    withTemporal(options, async ({ address, namespace, connection, client }) => {
      const { home, format } = options;
      const host = await loadHost(home);
      const settings = {
        ...usualSettings,
        retentionDays: options.retentionDays ?? usualSettings.retentionDays,
        searchAttributes: options.searchAttributes ? usualSettings.searchAttributes : [],
      };
      const clouds = configuredPlaces(options.env);
      const changes = await prepareTemporal({ connection, client, namespace, host, home, clouds, settings });
      if (format === 'json') {
        said.json({ address, namespace, deploymentId: host.deploymentId, hostId: host.hostId, changes });
        return 0;
      }
      for (const change of changes) said.out(change);
      if (changes.length === 0) said.out('nothing to change');
      said.out(`namespace ${namespace} at ${address} is ready for deployment ${host.deploymentId} (home ${home})`);
      return 0;
    }),
  );
}
