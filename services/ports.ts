// What the composition root brings to the services.
import type { Logger } from 'pino';
import type { IngressPolicy } from '../domain/cluster/capacity/ingress-policy.ts';
import type { Mailer } from '../platform/mail/smtp.ts';
import type { Keys } from '../platform/keys.ts';
import type { ApiMetrics } from '../platform/metrics/api-metrics.ts';
import type { FileStore } from '../platform/objects/files.ts';
import type { Objects } from '../platform/objects/objects.ts';
import type { Tokens } from '../platform/tokens.ts';
import type { RequestTracer } from '../platform/tracing/request-span.ts';
import type { Vault } from '../platform/vault/vault.ts';
import type { Store } from '../store/store.ts';
import type { DamageReport } from './damaged-objects.ts';
import type { SignInSettings } from './login/sign-in-settings.ts';
import type { QuotaLimits } from './quotas.ts';
import type { Providers } from './providers.ts';
import type { SchedulesPort } from './schedules/port.ts';
import type { WorkflowsPort } from './workflows-port.ts';

/** What the composition root brings. */
export interface Ports {
  workflows: WorkflowsPort;
  store: Store;
  /** Whose database and namespace these are. */
  deploymentId: string;
  objects: Objects;
  /** The content of jobs' files, in the same place. */
  files: FileStore;
  vault: Vault;
  tokens: Tokens;
  keys: Keys;
  logger: Logger;
  now: () => number;
  /** Never steps back, unlike `now`: for ages and intervals within this process. */
  monotonicMs: () => number;
  /** Where people reach this API: for links. */
  publicUrl: string;
  /** Where browsers reach dashboards (domain/cluster/dask/dashboard-url.ts); null: they are off. */
  dashboardUrl: string | null;
  /** The web application; null: it is not served. */
  web: { version: string; html: string; js: string; css: string } | null;
  providers: Providers;
  /** Sign-in at an identity provider; default: only API tokens sign in. */
  signIn?: SignInSettings | null;
  /** Aborts when the process ends: open streams are cut, and their readers come back to another replica. */
  stopping: AbortSignal;
  /** Default: as while Temporal is unavailable. */
  schedules?: SchedulesPort;
  /** Webhooks may go to loopback, private and link-local addresses, and over plain HTTP. Default: they may not. */
  allowPrivateWebhooks?: boolean;
  /** To whom ports of head instances may be opened. Default: to any address. */
  ingressPolicy?: IngressPolicy;
  /** Sends notifications by e-mail. Default: there is no mail server, and no address can be subscribed. */
  mailer?: Mailer | null;
  /** Environments that instances share. Default: 30 days, and as much as the object store takes. */
  archives?: { keptMs: number; maxBytes: number };
  /** Default: nothing is counted. */
  metrics?: ApiMetrics;
  /** Default: tracing is off. */
  trace?: RequestTracer;
  /** Requests and bytes of one caller. Default: domain/requests/limits.ts. */
  quotas?: Partial<QuotaLimits>;
  /** Proxies of ours before the API, each of which adds to X-Forwarded-For. Default: none, the header is not read. */
  trustedProxies?: number;
  /** Rejects when the key file cannot be read any more. Default: it always can. */
  readKeys?: () => Promise<unknown>;
  /** Jobs and clusters that have started and not ended, on one host. Default: any number. */
  maxOpenOnHost?: number;
  /** The name of this process among the replicas; a process that takes its place has the same one. Default: a random one. */
  replica?: string;
}

/** The same with every default filled in. */
export interface CompletePorts extends Omit<Ports, 'quotas'> {
  allowPrivateWebhooks: boolean;
  ingressPolicy: IngressPolicy;
  mailer: Mailer | null;
  signIn: SignInSettings | null;
  schedules: SchedulesPort;
  archives: { keptMs: number; maxBytes: number };
  metrics: ApiMetrics;
  damaged: DamageReport;
}
