// The interface of a provider towards the rest of the code: its name, its configuration, and its functions for the API, the
// Temporal worker and the operator's commands. A manifest loads no SDK until a method needs it, because the SDKs are large and
// most processes need none.
import type { InstanceFamilies } from '../domain/offers/choose.ts';
import type { AddressPrices } from '../domain/offers/plan.ts';
import type { InstanceRequirements } from '../domain/offers/requirements.ts';
import type { LogLine, LogQuery, Offer, Owner, Provider } from './provider.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface ProviderManifest {
  /** Used in specifications, requests, task queues and `--provider`. */
  name: string;
  /** Display name, e.g. `AWS EC2`. */
  title: string;
  /**
   * `host`: its instances are processes on the Temporal worker's machine, without a choice of instance type, zone, market or
   * disk, and without a price.
   */
  kind: 'host' | 'cloud';
  /** The variable that names its settings file; null without settings. */
  settingsVariable: string | null;
  /** Instance types that are considered when a request names none. */
  families: InstanceFamilies;
  /** Why this cloud cannot serve a request, e.g. unsupported tags or a disk that its types do not have. Null when it can. */
  refusal?: (asked: AskedOfCloud) => CloudRefusal | null;
  /** Whether an id has the form of its instances' ids; no two providers share one. */
  isInstanceId: (id: string) => boolean;
  /** Instance types that the cloud does not list: of these names, those that exist in the region whose other offers are `listed`. */
  offersByName?: (listed: readonly Offer[], region: string, names: readonly string[]) => Offer[];
  /** Instance types built to measure that meet requirements, where the cloud builds them in the region whose other offers are `listed`. */
  offersToMeasure?: (listed: readonly Offer[], region: string, requirements: InstanceRequirements) => Offer[];
  /** The error in the name of an instance type that is not on offer; null without an error. */
  nameHint?: (name: string) => string | null;
  /** Whether a failed request may succeed when repeated: no answer, a fault, or too many requests. */
  mayPass: (error: unknown) => boolean;
  /** Variables that name the provider for its agents. */
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
  /** The user's own tags. */
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
  /** The deployment that its settings name; null when they name none. */
  deploymentId: string | null;
  /** The default place first. */
  places: readonly [ProviderPlace, ...ProviderPlace[]];
  /** For the API: offers and logs. */
  reader(): Promise<ProviderReader>;
  /**
   * The provider of each place, for a Temporal worker.
   *
   * @throws RopewalkError VALIDATION when instances could not reach the API.
   */
  providers(launching: LaunchingInput): Promise<PlacedProvider[]>;
  /** Providers that list and terminate, but cannot launch. */
  terminators(): Promise<PlacedProvider[]>;
  /**
   * Null when this provider's instances need no proof because they are processes of this machine.
   *
   * @throws RopewalkError VALIDATION when the instances of a place could not be verified.
   */
  identity(): Promise<IdentityVerifier | null>;
  /** Accounts of the instances, with their identities. */
  accounts: readonly CloudAccount[];
  /** For `ropewalk doctor`, and for admins. */
  checks: readonly ProviderCheck[];
}

export interface PlacedProvider {
  place: ProviderPlace;
  provider: Provider;
}

/** A Temporal worker's input for launching agents. */
export interface LaunchingInput {
  /** The API's address for instances. */
  apiUrl: string;
  /** Path of the agent's bundled file. */
  agentBundle: string;
  /** Path of the Node.js that runs agents on this machine. */
  nodePath: string;
  /** Maximum number of running instances on this machine. */
  maxLocalInstances: number;
  /** Called when an agent on this machine has crashed. */
  onCrash?: (owner: Owner, instance: string) => void;
}

export interface ProviderReader {
  /**
   * Uses the default region without one.
   *
   * @throws RopewalkError VALIDATION for a region that is not configured.
   */
  placeOf(region: string | undefined): PlaceReader;
  /** @throws RopewalkError NOT_FOUND when the region of the query is no longer configured. */
  logs: (query: LogQuery) => AsyncIterable<LogLine>;
}

export interface PlaceReader extends ProviderPlace {
  offers(): Promise<readonly Offer[]>;
  /** Zones that accept launches. */
  zones: readonly string[];
  /** Whether GPU instances have a driver. */
  hasGpuDriver: boolean;
  /** Source and date of the on-demand prices; null where nothing costs anything. */
  onDemandPrices: { source: string; asOf: string } | null;
  /** Prices of an instance's public address. */
  addressPrices: AddressPrices;
}

export interface IdentityProof {
  /** The exact bytes from the metadata service: a document, or a signed token. */
  document: string;
  /** Base64; empty where the document carries its own signature. */
  signature: string;
}

/** Verifies an instance's proof of its identity. */
export interface IdentityVerifier {
  /**
   * `deploymentId` is this control plane's: a proof with an audience must be for it. `problem` never quotes the document,
   * because the caller controls it. Rejects when the verification keys are unavailable.
   */
  verify(
    proof: IdentityProof,
    deploymentId: string,
  ): Promise<{ instanceId: string; pendingAtMs: number } | { problem: string }>;
}

export interface CloudAccount {
  /** The only workspace of this account; null: all workspaces without an account of their own. */
  workspace: string | null;
  /** E.g. the assumed role, or a project. No secret. */
  account: string;
  /** Display text: the place, and the identity of instances. */
  detail: string;
}

/** The check could not run, or its finding may be intended. */
export interface CheckWarning {
  text: string;
  hint: string;
}

/** `names` are environment variables. */
export const notTriedWithout = (names: readonly string[]): CheckWarning => ({
  text: `not tried: ${names.join(' and ')} is not set here`,
  hint: 'Run ropewalk doctor with the variables of a Temporal worker.',
});

export interface ProviderCheck {
  /** The workspace of the account; absent for the control plane's own account. */
  workspace?: string;
  /** One or two words, e.g. `aws credentials`. */
  name: string;
  /** A slow check and its time limit: only `ropewalk doctor` runs it, the API does not repeat it. */
  doctorOnly?: { withinMs: number };
  /** Resolves to its finding; rejects with a RopewalkError whose hint is the remedy. */
  run(signal: AbortSignal, deploymentId: string): Promise<string | CheckWarning>;
}

/** Prepares an account for this provider, and removes the prepared resources. */
export interface ProviderSetup {
  /** The deployment that a settings file names; null when there is no file, or it names none. */
  deploymentIn(settingsPath: string): string | null;
  /** Lists existing and missing resources. Changes nothing. */
  plan(input: SetupInput): Promise<SetupPlan>;
  /** Lists setup's existing resources with the deployment's tags. Changes nothing. */
  planRemoval(input: SetupInput): Promise<SetupPlan>;
  quotas(input: QuotaInput): Promise<QuotaReport[]>;
}

export interface SetupInput {
  env: Environment;
  deploymentId: string;
  /** Name of the role, the profile and the groups; also a tag, so that a deployment may have several setups. */
  name: string;
  /** Empty: those of the settings file, else the cloud's default. */
  regions: readonly string[];
  /** An existing network, instead of a new one. */
  network: { id: string; subnets: readonly string[] } | null;
  /** The clients' CIDR ranges for schedulers; null: unchanged, or everywhere in a new group. */
  clientRanges: readonly string[] | null;
  /** The role that gets the control plane's policy; null for none. */
  controlPlaneRole: string | null;
  /** The Google Cloud project; null: that of the settings file or the environment. */
  project: string | null;
  /** A bucket for the object store; null for none. */
  bucket: string | null;
  /** Path of the settings file to write. */
  settingsPath: string;
}

export interface SetupStep {
  action: 'create' | 'change' | 'keep' | 'delete';
  /** null for a resource outside regions. */
  region: string | null;
  /** E.g. `subnet`. */
  kind: string;
  name: string;
  /** null for a resource to be created. */
  id: string | null;
  /** E.g. its range, or the effect of a change. */
  detail: string;
}

export interface SetupPlan {
  account: string;
  steps: readonly SetupStep[];
  /**
   * Applies the steps in order, calling `onDone` after each change, and `onWait` with the reason of a long wait. A repeated call after a crash, with a new plan, continues
   * with the missing steps.
   *
   * @throws RopewalkError naming the step that failed.
   */
  apply(onDone: (step: SetupStep) => void, signal: AbortSignal, onWait: (line: string) => void): Promise<void>;
  /** The user's next steps, in lines. */
  next: readonly string[];
}

export interface QuotaInput {
  env: Environment;
  regions: readonly string[];
  /** The Google Cloud project; null: that of the settings file or the environment. */
  project: string | null;
  settingsPath: string;
  /** vCPUs to request where the quota is lower; null requests nothing. */
  request: number | null;
}

export interface QuotaReport {
  region: string;
  name: string;
  code: string;
  value: number;
  unit: 'vCPU' | 'GPU' | 'address' | 'GB';
  /** Requested and not granted yet. */
  pending: number | null;
  /** Whether this call requested `pending`. */
  requested: boolean;
}
