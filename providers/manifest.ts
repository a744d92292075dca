// A provider as everything outside of its own folder sees it: its name, what an operator configures, and what the API, the
// Temporal worker and the operator's commands get from it. A manifest loads no SDK by itself: its methods do, on demand,
// because the SDKs are large and most processes need none.
import type { InstanceFamilies } from '../domain/offers/choose.ts';
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
  /** Whether an id has the form of its instances' ids; no two providers share one. */
  isInstanceId: (id: string) => boolean;
  /** Variables that name the provider for the agent that it launches. */
  agentEnvironment: Readonly<Record<string, string>>;
  /**
   * Null when the operator has not configured this provider.
   *
   * @throws RopewalkError VALIDATION naming every problem of the settings.
   */
  configure(input: ProviderInput): ConfiguredProvider | null;
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
  /** For `ropewalk doctor`. */
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
}

export interface IdentityProof {
  /** As the metadata service gave it, to the byte. */
  document: string;
  /** Base64. */
  signature: string;
}

/** Verifies the proof of an instance that it is the one it names. */
export interface IdentityVerifier {
  /** `problem` never quotes the document, which comes from the caller. */
  verify(proof: IdentityProof): { instanceId: string; pendingAtMs: number } | { problem: string };
}

export interface ProviderCheck {
  /** One or two words, e.g. `aws credentials`. */
  name: string;
  /** Resolves to what was found; rejects with a RopewalkError whose hint says what to do. */
  run(signal: AbortSignal): Promise<string>;
}
