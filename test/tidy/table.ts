// The project's import table: the folders that each folder may use, by value or by type only. Everything else is refused.

export interface Row {
  /** Folders, or files, of the project. */
  own: RegExp;
  /** Of the project, but types only: none of it exists at run time. */
  ownTypes?: RegExp;
  packages: RegExp;
  packageTypes?: RegExp;
}

/** Prefixes of paths, the most specific first. */
export const table: [prefix: string, row: Row][] = [
  // Shared by two sides: ids, names and types of messages, views.
  [
    'contracts/',
    {
      own: /^(contracts\/|domain\/(workflow-limits|job\/limits)\.ts$)/,
      ownTypes: /^domain\//,
      packages: /^@temporalio\/common$/,
    },
  ],
  ['domain/', { own: /^domain\//, packages: /^$/ }],
  // Both ends of the relay share the stream types; no other folder uses them.
  ['schema/relay-streams.ts', { own: /^schema\/relay\.ts$/, packages: /^node$/ }],
  ['schema/', { own: /^(schema|domain)\//, packages: /^zod$/ }],
  // One file per noun creates its view, from the state of its workflow, from its row, or at its end.
  ['views/', { own: /^(views|contracts|domain)\//, ownTypes: /^(schema\/|store\/store\.ts$)/, packages: /^$/ }],
  ['workflows/', { own: /^(workflows|views|contracts|domain)\//, packages: /^@temporalio\/(workflow|common)$/ }],
  [
    'activities/',
    {
      own: /^(activities|views|contracts|domain|platform|schema)\//,
      // The implementations are injected as ports.
      ownTypes: /^(providers\/provider|store\/(store|admission-port|liveness-port))\.ts$/,
      packages: /^(node|@temporalio\/(activity|common))$/,
      packageTypes: /^@temporalio\/(client|worker)$/,
    },
  ],
  // The port is types alone; views and rules come from contracts/ and domain/.
  [
    'store/',
    { own: /^(store|domain)\/|^platform\/ids\.ts$/, ownTypes: /^contracts\//, packages: /^(node|kysely|pg)$/ },
  ],
  ['providers/gcp/identity.ts', { own: /^(providers|domain)\//, packages: /^(zod|jose)$/ }],
  [
    'providers/',
    { own: /^(providers|domain)\//, packages: /^(node|zod|@aws-sdk\/.*|@google-cloud\/.*|google-auth-library)$/ },
  ],
  [
    'platform/replayer.ts',
    { own: /^$/, packages: /^(node|@temporalio\/proto)$/, packageTypes: /^@temporalio\/worker$/ },
  ],
  [
    'platform/replay-process.ts',
    { own: /^$/, ownTypes: /^platform\/replayer\.ts$/, packages: /^@temporalio\/(worker|proto)$/ },
  ],
  ['platform/workflow-vm.ts', { own: /^$/, packages: /^(node|@temporalio\/worker)$/ }],
  [
    'platform/namespace-claim.ts',
    { own: /^(domain\/errors|contracts\/reconcile)\.ts$/, packages: /^@temporalio\/client$/ },
  ],
  [
    'platform/',
    {
      own: /^(platform|domain)\//,
      packages:
        /^(node|zod|jose|nodemailer|openid-client|pino|prom-client|@opentelemetry\/.*|@temporalio\/interceptors-opentelemetry|@peculiar\/x509|reflect-metadata|@aws-sdk\/.*|google-auth-library)$/,
      packageTypes: /^@temporalio\/worker$/,
    },
  ],
  [
    'services/',
    {
      own: /^(services|views|domain|schema|platform|contracts)\//,
      // The implementations are injected as ports.
      ownTypes: /^(providers\/(provider|manifest)|store\/(store|answer|[a-z-]+-port))\.ts$/,
      packages: /^(node|zod|@temporalio\/(client|common))$/,
      packageTypes: /^pino$/,
    },
  ],
  [
    'api/relay/',
    {
      own: /^(api\/relay\/|schema\/relay(-streams)?\.ts$|domain\/(errors|tokens\/limits|cluster\/dask\/dashboard-url)\.ts$|platform\/host-check\.ts$)/,
      ownTypes: /^(platform|services)\//,
      packages: /^(node|ws)$/,
      packageTypes: /^pino$/,
    },
  ],
  [
    'api/settings.ts',
    {
      own: /^(api\/(sign-in|mail)-settings|platform\/(environment|keys-location|objects\/location)|domain\/(requests\/limits|environment\/limits|file-limits|cluster\/dask\/dashboard-url|cluster\/capacity\/ingress-policy))\.ts$/,
      packages: /^(node|zod)$/,
    },
  ],
  ['api/secret-setting.ts', { own: /^platform\/environment\.ts$/, packages: /^$/ }],
  ['api/mail-settings.ts', { own: /^(api\/secret-setting\.ts$|platform\/|domain\/)/, packages: /^zod$/ }],
  ['api/sign-in-settings.ts', { own: /^(api\/secret-setting\.ts$|(platform|domain|services)\/)/, packages: /^zod$/ }],
  [
    'api/database.ts',
    {
      own: /^(store\/|domain\/errors\.ts$|platform\/deployment\.ts$)/,
      ownTypes: /^(api\/|platform\/namespace-claim\.ts$)/,
      packages: /^node$/,
      packageTypes: /^pino$/,
    },
  ],
  ['api/server.ts', { own: /^(api|services|domain|schema|platform|providers)\//, packages: /./ }],
  [
    'api/',
    {
      own: /^(api\/|services\/|schema\/|domain\/(errors|ipv6|requests\/(limits|json-shape))\.ts$)/,
      ownTypes: /^platform\//,
      packages: /^(node|hono|zod|@hono\/(zod-openapi|node-server))$/,
      packageTypes: /^pino$/,
    },
  ],
  ['agent/build.ts', { own: /^agent\//, packages: /^(node|esbuild)$/ }],
  // The agent creates its own key and signing request: the X.509 library is bundled into its one file.
  ['agent/dask/csr.ts', { own: /^$/, packages: /^(@peculiar\/x509|reflect-metadata)$/ }],
  ['agent/aws/', { own: /^(agent\/|schema\/agent\.ts$|domain\/cloud-names\.ts$)/, packages: /^(node|zod|aws4fetch)$/ }],
  ['agent/gcp/', { own: /^(agent\/|domain\/cloud-names\.ts$)/, packages: /^(node|zod)$/ }],
  [
    'agent/',
    {
      own: /^(agent\/|schema\/(agent|common|container|files|relay|relay-streams|runtime|shared-builds|software)\.ts$|domain\/(units|environment\/(build-stages|limits)|gpu-use|retry-pause|liveness\/limits|software\/(limits|url-text)|map-at-once|job\/(protocol|task-set)|cluster\/dask\/options|file-(path|limits))\.ts$)/,
      packages: /^(node|zod)$/,
    },
  ],
  ['sdk/build/', { own: /^sdk\/build\//, packages: /^(node|typescript)$/ }],
  ['sdk/defaults-node.ts', { own: /^sdk\//, packages: /^node$/ }],
  ['sdk/connection.ts', { own: /^sdk\//, packages: /^#defaults$/ }],
  ['sdk/', { own: /^sdk\//, ownTypes: /^schema\//, packages: /^$/ }],
  // The client's environment is built as an agent builds it.
  // A command of `cluster exec` runs in the same environment as the cluster: the agent's code builds it on this machine too.
  [
    'cli/exec/environment.ts',
    { own: /^(cli|agent\/runtimes\/environment)\//, ownTypes: /^schema\//, packages: /^node$/ },
  ],
  ['cli/aws-session.ts', { own: /^cli\//, packages: /^@aws-sdk\/client-sts$/ }],
  // Files are transferred as on instances.
  [
    'cli/transfer/',
    { own: /^(cli|sdk)\/|^agent\/files\/http-file\.ts$|^domain\/(map-at-once|file-path)\.ts$/, packages: /^node$/ },
  ],
  // A script's header is read as the server reads it.
  // A list of inputs that does not fit in a request is split as the server splits it.
  [
    'cli/input-list.ts',
    {
      own: /^(cli\/|domain\/(errors|file-limits|job\/inputs)\.ts$)/,
      ownTypes: /^schema\//,
      packages: /^node$/,
    },
  ],
  ['cli/script-header.ts', { own: /^(cli\/|domain\/batch-header\.ts$)/, packages: /^node$/ }],
  ['cli/commands/cost.ts', { own: /^((cli|sdk)\/|domain\/cost\/csv\.ts$)/, packages: /^commander$/ }],
  ['cli/', { own: /^(cli|sdk|dev|ops)\//, ownTypes: /^schema\//, packages: /^(node|commander|yaml|zod)$/ }],
  ['web/build.ts', { own: /^$/, packages: /^(node|esbuild)$/ }],
  // Runs in browsers; shares the rule of which tasks a retry runs, and the form of costs as CSV.
  [
    'web/',
    {
      own: /^(web\/|domain\/(job\/retried-tasks|cost\/csv)\.ts$)/,
      ownTypes: /^schema\//,
      packages: /^(preact|uplot)$/,
    },
  ],
  ['ops/build.ts', { own: /^agent\/build\.ts$/, packages: /^(node|@temporalio\/worker)$/ }],
  [
    'ops/',
    {
      own: /^(ops|store|providers|platform|schema|contracts|domain)\//,
      packages: /^(node|csv-parse|hyparquet|zod|pg|@temporalio\/(client|common|envconfig))$/,
    },
  ],
  [
    'dev/',
    {
      own: /^((dev|ops|store|providers|platform|schema|contracts|domain)\/|(agent|web)\/build\.ts$)/,
      packages: /^(node|zod|yaml|@temporalio\/(client|common|envconfig|worker))$/,
    },
  ],
  ['worker.ts', { own: /^(activities|contracts|providers|platform|store|domain)\//, packages: /./ }],
  ['bench/', { own: /./, packages: /./ }],
  ['test/', { own: /./, packages: /./ }],
  ['vitest.config.ts', { own: /^test\/runner\//, packages: /^vitest$/ }],
];

/** The only files that read the environment: each is a program's entry point, or documents it as its default. */
export const compositionRoots =
  /^(worker\.ts|(api\/(server|openapi-write)|agent\/main|cli\/main|sdk\/defaults-node|dev\/(main|quickstart))\.ts|(bin|test|bench)\/.*)$/;
