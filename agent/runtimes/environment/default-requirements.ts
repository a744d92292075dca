// The default Python environment of a cluster. Pinned, because every instance of a cluster must run the same versions: Dask's
// processes exchange pickles. Each version installs on Python 3.10 and later.

export const defaultRequirements: readonly string[] = [
  // For the dashboard, including every scheduler's /status page.
  'bokeh==3.9.2',
  // distributed creates TLS contexts with the standard library, and Security.temporary() with this.
  'cryptography==50.0.2',
  'dask==2026.8.0',
  'distributed==2026.8.0',
  // Compression between workers that both have it.
  'lz4==4.4.5',
  'msgpack==1.2.4',
  // Dask's PipInstall plugin runs it on workers; uv creates environments without it.
  'pip==26.3',
  // For /metrics of schedulers and workers.
  'prometheus-client==0.26.0',
];
