import { describe, expect, it } from 'vitest';

import { isShown, parseDashboardPath } from '../../api/relay/paths.ts';

describe('paths of a dashboard', () => {
  it.each([
    ['/clusters/7/dashboard', { cluster: 7, site: 'dashboard', rest: '', query: '' }],
    ['/clusters/7/dashboard/', { cluster: 7, site: 'dashboard', rest: '/', query: '' }],
    [
      '/clusters/661309/dashboard/static/js/bokeh.min.js?v=1',
      { cluster: 661309, site: 'dashboard', rest: '/static/js/bokeh.min.js', query: '?v=1' },
    ],
    ['/clusters/7/jupyter/api/kernels?a=b', { cluster: 7, site: 'jupyter', rest: '/api/kernels', query: '?a=b' }],
    ['/clusters/7/jupyters/', null],
    ['/clusters/07/dashboard/', null],
    ['/clusters/7/dashboards', null],
    ['/clusters/x/dashboard/', null],
    ['/v1/clusters/7', null],
    ['http://elsewhere/clusters/7/dashboard/', null],
  ])('%s', (url, path) => {
    expect(parseDashboardPath(url)).toEqual(path);
  });

  it.each([
    ...['/status', '/workers', '/tasks', '/system', '/profile', '/profile-server', '/graph', '/groups', '/shuffle'],
    ...['/health', '/sitemap.json', '/individual-plots.json', '/individual-task-stream', '/gpu-memory', '/hardware'],
    ...['/info', '/info/main/workers.html', '/info/worker/tls%3A%2F%2F127.0.0.1%3A8786.html'],
    ...['/info/task/%28%27sum-1a%27%2C%200%29.html', '/static/js/bokeh.min.js', '/statics/css/base.css'],
  ])('%s is shown', (path) => {
    expect(isShown(path, 'page')).toBe(true);
  });

  it.each([
    ...[
      '/',
      '',
      '/api/v1/retire_workers',
      '/metrics',
      '/jupyter/lab',
      '/proxy/8080/10.0.0.1/status',
      '/json/identity.json',
    ],
    ...['/status/autoload.js', '/status/', '/eventstream', '/nothing', '/STATUS', '/status%2F', '/%73tatus'],
    ...[
      '/static/../api/v1',
      '/static/%2e%2e/api',
      '/static/.%2E/api',
      '/static/..%2fapi',
      '/info/%2e%2e%5capi',
      '/info/%ff',
      '/static//api',
      '/./status',
      '/info/\\..\\api',
    ],
    ...['/individual-../api', '/info/a b.html', '/info/%zz', '/health/ws', '/info/ws/'],
  ])('%s is not', (path) => {
    expect(isShown(path, 'page')).toBe(false);
  });

  it('are websockets only where pages of Bokeh open one', () => {
    for (const path of ['/status/ws', '/individual-cpu/ws', '/shuffle/ws'])
      expect(isShown(path, 'websocket')).toBe(true);
    for (const path of [
      '/status',
      '/ws',
      '/eventstream',
      '/static/ws',
      '/info/ws',
      '/jupyter/api/kernels/1/channels',
      '/status/x/ws',
    ]) {
      expect(isShown(path, 'websocket')).toBe(false);
    }
    expect(isShown('/status/ws', 'page')).toBe(false);
  });
});
