// A provider as everything outside of its own folder sees it: its name, what an operator configures, and what the API, the
// Temporal worker and the operator's commands get from it. A manifest loads no SDK by itself: its methods do, on demand,
// because the SDKs are large and most processes need none.
import type { InstanceFamilies } from '../domain/offers/choose.ts';
import type { AddressPrices } from '../domain/offers/plan.ts';
import type { LogLine, LogQuery, Offer, Owner, Provider } from './provider.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface ProviderManifest {
  /** In specifications, requests, task queues and `--provider`. */
  name: string;
  /** For people, e.g. `AWS EC2`. */
  title: string;
  /**
   * `host`: its instances are processes on the machine of the Temporal worker. There is nothing to choose: no instance type,
   * no zone, no market, no disk, and no price.
   */
  kind: 'host' | 'cloud';
  /** The variable that names its settings file; null where there is nothing to set. */
  settingsVariable: string | null;
  /** Instance types that are considered when a request names none. */
  families: InstanceFamilies;
  /**
   * What this cloud cannot do of a request: tags that it has no form for, a disk that its types do not have. Null when it can.
   */
  refusal?: (asked: AskedOfCloud) => CloudRefusal | null;
  /** Whether an id has the form of its instances' ids; no two providers share one. */
  isInstanceId: (id: string) => boolean;
  /** Whether a request that failed so may succeed when it is repeated: no answer, a fault, or too many requests. */
  mayPass: (error: unknown) => boolean;
  /** Variables that name the provider for the agent that it launches. */
  agentEnvironment: Readonly<Record<string, string>>;
  /**
   * Null when the operator has not configured this provider.
   *
   * @throws RopewalkError VALIDATION naming every problem of the settings.
   */
  configure(input: ProviderInput): ConfiguredProvider | null;
  /** For `ropewalk setup`; null where an account needs no preparation. */
  setup: (() => Promise<ProviderSetup>) | null;
}

export interface AskedOfCloud {
  workerTypes: readonly string[];
  /** The user's own. */
  tags: Readonly<Record<string, string>>;
  /** MB/s. */
  workerDiskThroughput: number | null;
}

export interface CloudRefusal {
  field: 'tags' | 'diskThroughput';
  message: string;
  hint: string;
}

export interface ProviderInput {
  env: Environment;
  /** ROPEWALK_HOME. */
  home: string;
  /** The id of this machine, in its home's host.json. */
  hostId: string;
}

/** A region of a cloud, or this machine. */
export interface ProviderPlace {
  /** Null for this machine. */
  region: string | null;
  /** Task queue of the place's activities; one sweep runs on each. */
  queue: string;
}

export interface ConfiguredProvider {
  /** The default one first. */
  places: readonly [ProviderPlace, ...ProviderPlace[]];
  /** What the API reads: offers and logs. */
  reader(): Promise<ProviderReader>;
  /**
   * What a Temporal worker serves: the provider of each place.
   *
   * @throws RopewalkError VALIDATION when instances could not reach the API.
   */
  providers(launching: LaunchingInput): Promise<PlacedProvider[]>;
  /** Providers that list and terminate, and cannot launch. */
  terminators(): Promise<PlacedProvider[]>;
  /**
   * Null when instances of this provider need no proof: they are processes of this machine.
   *
   * @throws RopewalkError VALIDATION when the instances of a place could not be verified.
   */
  identity(): Promise<IdentityVerifier | null>;
  /** Where instances are launched, and as whom. */
  accounts: readonly CloudAccount[];
  /** For `ropewalk doctor`, and for admins. */
  checks: readonly ProviderCheck[];
}

export interface PlacedProvider {
  place: ProviderPlace;
  provider: Provider;
}

/** What a Temporal worker launches agents with. */
export interface LaunchingInput {
  /** Where instances reach the API. */
  apiUrl: string;
  /** Path of the agent's bundled file. */
  agentBundle: string;
  /** Path of the Node that runs agents on this machine. */
  nodePath: string;
  /** Instances that may run on this machine at the same time. */
  maxLocalInstances: number;
  /** Called when an agent on this machine has crashed. */
  onCrash?: (owner: Owner, instance: string) => void;
}

export interface ProviderReader {
  /**
   * Without a region, the default one.
   *
   * @throws RopewalkError VALIDATION for a region that is not configured.
   */
  placeOf(region: string | undefined): PlaceReader;
  /** @throws RopewalkError NOT_FOUND when the region of the query is no longer configured. */
  logs: (query: LogQuery) => AsyncIterable<LogLine>;
}

export interface PlaceReader extends ProviderPlace {
  offers(): Promise<readonly Offer[]>;
  /** Zones that can be launched in. */
  zones: readonly string[];
  /** Whether instances with GPUs have a driver for them. */
  hasGpuDriver: boolean;
  /** Source and date of the on-demand prices; null where nothing costs anything. */
  onDemandPrices: { source: string; asOf: string } | null;
  /** Of the public address of an instance. */
  addressPrices: AddressPrices;
}

export interface IdentityProof {
  /** As the metadata service gave it, to the byte: a document, or a signed token. */
  document: string;
  /** Base64; empty where the document carries its own signature. */
  signature: string;
}

/** Verifies the proof of an instance that it is the one it names. */
export interface IdentityVerifier {
  /**
   * `deploymentId` of this control plane: a proof that names an audience must be for it. `problem` never quotes the document,
   * which comes from the caller. Rejects when the keys of the verification are unavailable.
   */
  verify(
    proof: IdentityProof,
    deploymentId: string,
  ): Promise<{ instanceId: string; pendingAtMs: number } | { problem: string }>;
}

export interface CloudAccount {
  /** Only this workspace's instances; null: those of all that have none of their own. */
  workspace: string | null;
  /** E.g. the role that is taken, or a project. No secret. */
  account: string;
  /** For people: the place, and the identity of instances. */
  detail: string;
}

/** Of a check that could not be made, or whose finding may be meant so. */
export interface CheckWarning {
  text: string;
  hint: string;
}

/** `names`: of the variables. */
export const notTriedWithout = (names: readonly string[]): CheckWarning => ({
  text: `not tried: ${names.join(' and ')} is not set here`,
  hint: 'Run ropewalk doctor with the variables of a Temporal worker.',
});

export interface ProviderCheck {
  /** Of the account of this workspace; absent for the control plane's own. */
  workspace?: string;
  /** One or two words, e.g. `aws credentials`. */
  name: string;
  /** It takes longer than others, this long at most: `ropewalk doctor` makes it, and the API does not repeat it by itself. */
  doctorOnly?: { withinMs: number };
  /** Resolves to what was found; rejects with a RopewalkError whose hint says what to do. */
  run(signal: AbortSignal, deploymentId: string): Promise<string | CheckWarning>;
}

/** Prepares an account for this provider, and takes away what it made. */
export interface ProviderSetup {
  /** What exists and what is missing. Changes nothing. */
  plan(input: SetupInput): Promise<SetupPlan>;
  /** What `plan` would have created, as far as it exists and carries the deployment's tags. Changes nothing. */
  planRemoval(input: SetupInput): Promise<SetupPlan>;
  quotas(input: QuotaInput): Promise<QuotaReport[]>;
}

export interface SetupInput {
  env: Environment;
  deploymentId: string;
  /** Of the role, the profile and the groups; also a tag, so that a deployment may have several. */
  name: string;
  /** Empty: those of the settings file, else the cloud's default. */
  regions: readonly string[];
  /** A network that exists, in place of a new one. */
  network: { id: string; subnets: readonly string[] } | null;
  /** From where clients reach schedulers, as CIDR; null: as it is, or everywhere in a new group. */
  clientRanges: readonly string[] | null;
  /** Gets the policy of the control plane; null for none. */
  controlPlaneRole: string | null;
  /** The Google Cloud project; null: that of the settings file or the environment. */
  project: string | null;
  /** A bucket for the object store; null for none. */
  bucket: string | null;
  /** Where the settings are written. */
  settingsPath: string;
}

export interface SetupStep {
  action: 'create' | 'change' | 'keep' | 'delete';
  /** null for what is not in a region. */
  region: string | null;
  /** E.g. `subnet`. */
  kind: string;
  name: string;
  /** null for what is to be created. */
  id: string | null;
  /** E.g. its range, or what a change does. */
  detail: string;
}

export interface SetupPlan {
  account: string;
  steps: readonly SetupStep[];
  /**
   * Carries the steps out, in order; `onDone` is called after each change. A call that is repeated after a crash, with a new
   * plan, continues with what is missing.
   *
   * @throws RopewalkError naming the step that failed.
   */
  apply(onDone: (step: SetupStep) => void, signal: AbortSignal): Promise<void>;
  /** What to do next, in lines. */
  next: readonly string[];
}

export interface QuotaInput {
  env: Environment;
  regions: readonly string[];
  /** The Google Cloud project; null: that of the settings file or the environment. */
  project: string | null;
  settingsPath: string;
  /** vCPUs to ask for where the quota is lower; null asks for nothing. */
  request: number | null;
}

export interface QuotaReport {
  region: string;
  name: string;
  code: string;
  value: number;
  unit: 'vCPU' | 'GPU' | 'address' | 'GB';
  /** What was asked for and is not granted yet. */
  pending: number | null;
  /** Whether this call asked for `pending`. */
  requested: boolean;
}
