// The environment variables that agents inherit from the Temporal worker: paths of programs and temporary files, and package
// download settings. Agents pass on fewer. None of Ropewalk's variables is inherited.
import { homedir, tmpdir } from 'node:os';
import { delimiter, dirname } from 'node:path';

export function agentEnvironment(
  own: Readonly<Record<string, string | undefined>>,
  nodePath: string,
): Record<string, string> {
  const usualPath = [dirname(nodePath), '/usr/local/bin', '/usr/bin', '/bin'].join(delimiter);
  const found: Record<string, string> = {};
  for (const name of [...outside, ...ofEngines]) {
    const value = own[name];
    if (value !== undefined) found[name] = value;
  }
  return {
    ...found,
    PATH: own['PATH'] ?? usualPath,
    HOME: own['HOME'] ?? homedir(),
    LANG: own['LANG'] ?? 'C.UTF-8',
    TMPDIR: own['TMPDIR'] ?? tmpdir(),
  };
}

/** Configuration and daemon addresses of container engines; agents pass them only to an engine. */
export const ofEngines = [
  ...['XDG_RUNTIME_DIR', 'DBUS_SESSION_BUS_ADDRESS', 'CONTAINERS_CONF', 'CONTAINERS_STORAGE_CONF'],
  ...['CONTAINERS_REGISTRIES_CONF', 'CONTAINER_HOST', 'DOCKER_HOST', 'DOCKER_CERT_PATH', 'DOCKER_TLS_VERIFY'],
] as const;

/** The same names as in agent/runtimes/environment/run-tool.ts (a test compares them): agents share no code with providers. */
export const outside = [
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'all_proxy', 'no_proxy'],
  ...['SSL_CERT_FILE', 'SSL_CERT_DIR', 'PIP_CERT', 'UV_SYSTEM_CERTS', 'UV_HTTP_RETRIES'],
  ...['PIP_INDEX_URL', 'PIP_EXTRA_INDEX_URL', 'UV_DEFAULT_INDEX', 'UV_INDEX', 'UV_INDEX_URL', 'UV_EXTRA_INDEX_URL'],
] as const;
