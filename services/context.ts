// The context of every service call: dependencies, caller, and the request's id.
import type { ExchangeAnswer, ExchangeItem } from '../domain/job/protocol.ts';
import type { Role, Scope } from '../domain/people/state.ts';
import type { SealedTexts } from '../platform/sealed-text.ts';
import type { InstanceClaims, LaunchClaims } from '../platform/tokens.ts';
import type { ReportAnswer, ReportItem } from '../contracts/cluster.ts';
import type { Starter } from './admission/starter.ts';
import type { TokenCache } from './auth/token-cache.ts';
import type { GroupCommits } from './group-commit/registry.ts';
import type { BodyMemory } from './body-memory.ts';
import type { Programs } from './agents/program.ts';
import type { Keepalives } from './clusters/keepalives.ts';
import type { FairQueue } from './fair-queue.ts';
import type { FileStreams } from './files/streams.ts';
import type { SharedReads } from './live/shared-reads.ts';
import type { KnownContents } from './shared-builds/known-contents.ts';
import type { LinkMails } from './login/link-mails.ts';
import type { LoginRates } from './login/rates.ts';
import type { HeardAgents } from './liveness/heard.ts';
import type { LivenessRounds } from './liveness/round.ts';
import type { TaskRecords } from './jobs/task-records.ts';
import type { OrderWatch } from './order-watch.ts';
import type { Quotas } from './quotas.ts';
import type { Readiness } from './readiness.ts';
import type { Turns } from './turns.ts';
import type { Views } from './views.ts';
import type { WebhookRounds } from './webhooks/rounds.ts';
import type { CompletePorts } from './ports.ts';

export interface Deps extends CompletePorts {
  webhooks: WebhookRounds;
  quotas: Quotas;
  bodyMemory: BodyMemory;
  fairQueue: FairQueue;
  fileStreams: FileStreams;
  sharedContents: KnownContents;
  programs: Programs;
  readiness: () => Promise<Readiness>;
  views: Views;
  sharedReads: SharedReads;
  taskRecords: TaskRecords;
  turns: Turns;
  tokenCache: TokenCache;
  starter: Starter;
  reports: GroupCommits<ReportItem, ReportAnswer>;
  exchanges: GroupCommits<ExchangeItem, ExchangeAnswer>;
  orders: OrderWatch;
  heard: HeardAgents;
  liveness: LivenessRounds;
  keepalives: Keepalives;
  loginRates: LoginRates;
  linkMails: LinkMails;
  sealedTexts: SealedTexts;
}

/** A user or program with an API token. */
export interface Actor {
  workspace: string;
  user: string;
  /** Never reused: a name that was removed and added again gets a new id. */
  userId: string;
  tokenId: string;
  role: Role;
  /** The token's scopes, limited to those of the user's current role. */
  scopes: readonly Scope[];
  expiresAtMs: number | null;
  /** When the token was verified, by the monotonic clock. */
  checkedAtMs: number;
}

export interface Context<A = Actor> {
  deps: Deps;
  actor: A;
  requestId: string;
}

/** `InstanceContext`: a registered instance. `LaunchContext`: a launch whose instances may register. */
export type InstanceContext = Context<InstanceClaims & { expiresAtMs: number }>;
export type LaunchContext = Context<LaunchClaims>;
