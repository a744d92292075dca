// The errors of a wrong environment: all at once, by name, with an example, and never a value.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { describe, expect, it } from 'vitest';

import { readSettings } from '../../api/settings.ts';
import { readWorkerSettings } from '../../platform/worker-settings.ts';

const messageOf = (read: () => unknown): string => {
  try {
    read();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  throw new Error('it was accepted');
};

const good = { ROPEWALK_PORT: '7300', ROPEWALK_HOST_ID: 'host_1' };

describe("the API's environment", () => {
  it('gets an error with every problem, each with an example, and without the value', () => {
    const text = messageOf(() =>
      readSettings({
        ROPEWALK_LISTEN: 'canary-everywhere',
        ROPEWALK_PORT: '99999',
        ROPEWALK_LOG_LEVEL: 'canary-loud',
        ROPEWALK_METRICS_ADDRESS: 'canary-9464',
        ROPEWALK_DRAIN_SECONDS: '0',
        OTEL_EXPORTER_OTLP_ENDPOINT: 'canary:4317',
        ROPEWALK_DATABASE_URL: 'mysql://canary',
      }),
    );
    const lines = text.split('\n').filter((line) => line.startsWith('  '));
    expect(new Set(lines.map((line) => line.trim().split(':')[0]))).toEqual(
      new Set([
        'OTEL_EXPORTER_OTLP_ENDPOINT',
        'ROPEWALK_DATABASE_URL',
        'ROPEWALK_DRAIN_SECONDS',
        'ROPEWALK_HOST_ID',
        'ROPEWALK_LISTEN',
        'ROPEWALK_LOG_LEVEL',
        'ROPEWALK_METRICS_ADDRESS',
        'ROPEWALK_PORT',
        'ROPEWALK_PUBLIC_URL',
      ]),
    );
    for (const line of lines) expect(line).toMatch(/, for example (\w+)=\S+$/);
    expect(text).not.toMatch(/canary|99999/);
  });

  it('gives dashboards an origin of their own, or none', () => {
    expect(readSettings(good).dashboards).toBeNull();
    const withPort = { ...good, ROPEWALK_DASHBOARD_PORT: '7301' };
    expect(readSettings(withPort).dashboards).toEqual({ port: 7301, url: 'http://127.0.0.1:7301' });
    const open = { ...withPort, ROPEWALK_PUBLIC_URL: 'https://ropewalk.example.com' };
    expect(messageOf(() => readSettings(open))).toContain('ROPEWALK_DASHBOARD_URL: must be set');
    const at = (url: string) => readSettings({ ...open, ROPEWALK_DASHBOARD_URL: url }).dashboards?.url;
    for (const url of ['https://dashboards.example.com', 'https://cluster-{cluster}.dashboards.example.com']) {
      expect(at(url)).toBe(url);
    }
    for (const url of ['https://ropewalk.example.com', 'https://ropewalk.example.com:443/']) {
      expect(messageOf(() => at(url))).toContain('must be another origin than ROPEWALK_PUBLIC_URL');
    }
    for (const url of [
      'dashboards',
      'https://a.example/{cluster}',
      'https://{name}.a.example',
      'https://u:p@a.example',
    ]) {
      expect(messageOf(() => at(url))).toContain('must be an http or https URL without a path');
    }
  });

  it('listens on loopback, without metrics, unless it says otherwise', () => {
    expect(readSettings({ ...good, ROPEWALK_LOG_LEVEL: '' })).toMatchObject({
      listen: '127.0.0.1',
      metrics: null,
      otlpEndpoint: null,
      logLevel: 'info',
      publicUrl: 'http://127.0.0.1:7300',
    });
    const open = { ...good, ROPEWALK_LISTEN: '0.0.0.0', ROPEWALK_PUBLIC_URL: 'https://ropewalk.example.com' };
    expect(readSettings({ ...open, ROPEWALK_METRICS_ADDRESS: '[::1]:9464' })).toMatchObject({
      listen: '0.0.0.0',
      metrics: { host: '::1', port: 9464 },
    });
  });
});

describe("the Temporal worker's environment", () => {
  it('gets an error with every problem, also that a file does not exist', () => {
    const text = messageOf(() =>
      readWorkerSettings({ ROPEWALK_AGENT_BUNDLE: '/nowhere/agent.mjs', ROPEWALK_MAX_LOCAL_INSTANCES: 'many' }),
    );
    for (const name of ['HOME', 'HOST_ID', 'API_URL', 'AGENT_BUNDLE', 'MAX_LOCAL_INSTANCES']) {
      expect(text).toContain(`  ROPEWALK_${name}: `);
    }
    expect(text).toContain('names no file of this machine');
  });

  it('takes the path of the agent from where it is started: an agent starts elsewhere', () => {
    const settings = readWorkerSettings({
      ...{ ROPEWALK_HOME: '/h', ROPEWALK_HOST_ID: 'h', ROPEWALK_API_URL: 'http://127.0.0.1:9' },
      ROPEWALK_AGENT_BUNDLE: 'package.json',
    });
    expect(settings.agentBundle).toBe(join(process.cwd(), 'package.json'));
  });
});

describe('a program with a wrong environment', () => {
  it.each([
    ['API', '../../api/server.ts'],
    ['Temporal worker', '../../worker.ts'],
  ])('%s: ends with 2 and says why, without a stack', (program, file) => {
    const script = fileURLToPath(new URL(file, import.meta.url));
    const env = { TEMPORAL_TLS: 'neither', ROPEWALK_PORT: 'x' };
    const { status, stderr } = spawnSync(process.execPath, [script], { env, encoding: 'utf8', timeout: 60_000 });
    expect([status, stderr]).toEqual([2, expect.stringContaining(`The ${program} cannot start`)]);
    expect(stderr).toContain('ROPEWALK_HOST_ID');
    expect(stderr).not.toMatch(/^\s+at /m);
  });
});
