// The ports of the services, implemented by the composition root.
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
import type { MailSignInSettings, SignInSettings } from './login/sign-in-settings.ts';
import type { QuotaLimits } from './quotas.ts';
import type { Providers } from './providers.ts';
import type { SchedulesPort } from './schedules/port.ts';
import type { WorkflowsPort } from './workflows-port.ts';

/** The ports of the composition root. */
export interface Ports {
  workflows: WorkflowsPort;
  store: Store;
  /** The owner of the database and the namespace. */
  deploymentId: string;
  objects: Objects;
  /** Contents of jobs' files, in the same object store. */
  files: FileStore;
  vault: Vault;
  tokens: Tokens;
  keys: Keys;
  logger: Logger;
  now: () => number;
  /** Never moves back, unlike `now`: for ages and intervals within this process. */
  monotonicMs: () => number;
  /** The URL of this API in links. */
  publicUrl: string;
  /** The URL of dashboards (domain/cluster/dask/dashboard-url.ts); null turns them off. */
  dashboardUrl: string | null;
  /** The web application; null to not serve it. */
  web: { version: string; html: string; js: string; css: string } | null;
  providers: Providers;
  /** Sign-in at an identity provider. Default: only API tokens. */
  signIn?: SignInSettings | null;
  /** Sign-in by links in e-mails. Default: off. */
  mailSignIn?: MailSignInSettings | null;
  /** Aborts when the process ends: open streams are cut, and their readers reconnect to another replica. */
  stopping: AbortSignal;
  /** Default: as if Temporal were unavailable. */
  schedules?: SchedulesPort;
  /** Allows webhooks to loopback, private and link-local addresses, and over plain HTTP. Default: not allowed. */
  allowPrivateWebhooks?: boolean;
  /** Sources to which ports of head instances may be opened. Default: any address. */
  ingressPolicy?: IngressPolicy;
  /** Sends notifications by e-mail. Default: no mail server, so no address can be subscribed. */
  mailer?: Mailer | null;
  /** Environments that instances share. Default: 30 days, and the largest size of the object store. */
  archives?: { keptMs: number; maxBytes: number };
  /** Default: nothing is counted. */
  metrics?: ApiMetrics;
  /** Default: tracing is off. */
  trace?: RequestTracer;
  /** Rates of one caller's requests and bytes. Default: domain/requests/limits.ts. */
  quotas?: Partial<QuotaLimits>;
  /** Number of our own proxies before the API, each of which appends to X-Forwarded-For. Default: none, so the header is ignored. */
  trustedProxies?: number;
  /** Rejects when the key file can no longer be read. Default: always resolves. */
  readKeys?: () => Promise<unknown>;
  /** Maximum started and unended jobs and clusters on one host. Default: no limit. */
  maxOpenOnHost?: number;
  /** The name of this process among the replicas; its successor has the same name. Default: a random name. */
  replica?: string;
}

/** The same ports with all defaults. */
export interface CompletePorts extends Omit<Ports, 'quotas'> {
  allowPrivateWebhooks: boolean;
  ingressPolicy: IngressPolicy;
  mailer: Mailer | null;
  signIn: SignInSettings | null;
  mailSignIn: MailSignInSettings | null;
  schedules: SchedulesPort;
  archives: { keptMs: number; maxBytes: number };
  metrics: ApiMetrics;
  damaged: DamageReport;
}
