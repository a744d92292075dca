// The options of `ropewalk batch run`, from the command line and from the header of the script.

import type { CliContext, ConnectionFlags, FormatFlag } from '../../context.ts';
import type { ContainerFlags } from '../../containers.ts';
import type { JobMachineFlags } from '../../machines.ts';
import type { MapOverFlags } from '../../map-over.ts';
import type { PackageSyncFlags } from '../../package-sync.ts';
import { checkHeaderPaths } from '../../header-paths.ts';
import { packageSyncOptions } from '../../package-sync.ts';
import { isSet, readScriptHeader } from '../../script-header.ts';
import type { SoftwareFlags } from '../../software.ts';

type Flags = ConnectionFlags & FormatFlag & JobMachineFlags & MapOverFlags;

export interface RunFlags extends Flags, SoftwareFlags, PackageSyncFlags, ContainerFlags {
  name?: string;
  getOrCreate?: boolean;
  ntasks?: number;
  nTasks?: number;
  array?: string;
  maxWorkers?: number;
  taskOnScheduler?: boolean;
  schedulerTaskArray?: string;
  waitForReadyCluster?: boolean;
  after?: number[];
  afterOk?: number[];
  priority?: number;
  retries?: number;
  maxRetries?: number;
  retryOnExit?: string;
  taskTimeout?: string;
  jobTimeout?: string;
  maxCost?: number;
  lease?: string;
  watchdogTimeout?: string;
  privateToCreator?: boolean;
  env?: string[];
  secretEnv?: string[];
  envFile?: string[];
  secretEnvFile?: string[];
  upload?: string[];
  /** Commander's name for --no-implicit-file-upload: false when it is given. */
  implicitFileUpload?: boolean;
  download?: string;
  sync?: string;
  pipeToFiles?: boolean;
  inputFilestore?: string;
  outputFilestore?: string;
  runOnHost?: string;
  schedulerSidecarSpec?: string;
  forwardAwsCredentials?: boolean;
  commandOnInstance?: boolean;
  plan?: boolean;
  wait?: boolean;
}

/** Options in the script's header that only this program can carry out. */
const clientOptions = [
  ...['map-over-file', 'env-file', 'secret-env-file', 'host-setup-script', 'wait', 'workspace'],
  ...['upload', 'download', 'sync', 'forward-aws-credentials', 'no-implicit-file-upload'],
  'scheduler-sidecar-spec',
  ...packageSyncOptions,
];

const repeatedPaths = ['upload', 'env-file', 'secret-env-file'];

export interface AllFlags extends RunFlags {
  clientOptions: string[];
}

/** The command line overrides the header; repeatable options accumulate. */
export async function withHeader(context: CliContext, words: string[], flags: RunFlags): Promise<AllFlags> {
  const header = await readScriptHeader(words, new Set(clientOptions), context);
  const both = (name: string, own: string[] = []): string[] => [...(header.get(name) ?? []), ...own];
  const { ntasks, nTasks, array, mapOverValues, mapOverFile } = flags;
  const download = flags.download ?? header.get('download')?.at(-1);
  const sync = flags.sync ?? header.get('sync')?.at(-1);
  const saysTasks = [ntasks, nTasks, array, mapOverValues, mapOverFile].some((each) => each !== undefined);
  const mapped = header.get('map-over-file')?.at(-1);
  const hostSetupScript = flags.hostSetupScript ?? header.get('host-setup-script')?.at(-1);
  const sidecarSpec = flags.schedulerSidecarSpec ?? header.get('scheduler-sidecar-spec')?.at(-1);
  const workspace = flags.workspace ?? header.get('workspace')?.at(-1);
  await checkHeaderPaths(
    {
      ...Object.fromEntries(repeatedPaths.map((name) => [name, header.get(name) ?? []])),
      ...(flags.download === undefined && download !== undefined && { download: [download] }),
      ...(flags.sync === undefined && sync !== undefined && { sync: [sync] }),
      ...(mapped !== undefined && !saysTasks && { 'map-over-file': [mapped] }),
      ...(flags.schedulerSidecarSpec === undefined &&
        sidecarSpec !== undefined && { 'scheduler-sidecar-spec': [sidecarSpec] }),
      ...(flags.hostSetupScript === undefined &&
        hostSetupScript !== undefined && { 'host-setup-script': [hostSetupScript] }),
    },
    [...(flags.upload ?? []), ...(flags.envFile ?? []), ...(flags.secretEnvFile ?? [])],
    context,
  );
  return {
    ...flags,
    ...(mapped !== undefined && !saysTasks && { mapOverFile: mapped }),
    ...(hostSetupScript !== undefined && { hostSetupScript }),
    ...(sidecarSpec !== undefined && { schedulerSidecarSpec: sidecarSpec }),
    envFile: both('env-file', flags.envFile),
    secretEnvFile: both('secret-env-file', flags.secretEnvFile),
    upload: [...both('upload', flags.upload), ...(sync === undefined ? [] : [sync])],
    ...(download !== undefined && { download }),
    ...(sync !== undefined && { sync }),
    ...(workspace !== undefined && { workspace }),
    ...(isSet(header, 'wait') && flags.plan !== true && { wait: true }),
    ...(isSet(header, 'forward-aws-credentials') && { forwardAwsCredentials: true }),
    ...(isSet(header, 'no-implicit-file-upload') && { implicitFileUpload: false }),
    clientOptions: [...header.keys()],
  };
}
