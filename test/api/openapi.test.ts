import { readFile } from 'node:fs/promises';

import { describe, expect, it } from 'vitest';

import { apiDocument } from '../../api/openapi.ts';
import { renderDocs } from '../../api/routes/docs-page.ts';
import { createTestApi } from './support.ts';

describe('the OpenAPI document', () => {
  it('is the committed one: run `npm run openapi` after changing a route', async () => {
    const committed = await readFile(new URL('../../docs/openapi.json', import.meta.url), 'utf8');
    expect(`${JSON.stringify(apiDocument(), null, 2)}\n` === committed).toBe(true);
  });

  it('describes exactly the routes that are served', async () => {
    const { app } = await createTestApi();
    const ownPages = [
      'GET /v1/openapi.json',
      'GET /docs',
      'GET /login',
      'POST /login',
      'GET /login/oidc',
      'GET /login/oidc/callback',
      'POST /login/mail',
      'GET /login/mail/link',
      'POST /login/mail/link',
    ];
    const served = new Set(
      app.routes.filter(({ method }) => method !== 'ALL').map(({ method, path }) => `${method} ${path}`),
    );
    const described = Object.entries(apiDocument().paths ?? {}).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`),
    );
    expect([...served].filter((route) => !ownPages.includes(route)).toSorted()).toEqual(described.toSorted());
  });

  it('resolves every reference, and gives every operation an id, a summary and the error body', () => {
    const document = apiDocument();
    const text = JSON.stringify(document);
    const known = Object.keys(document.components?.schemas ?? {});
    for (const [, name] of text.matchAll(/#\/components\/schemas\/(\w+)/g)) expect(known).toContain(name);
    const operations = operationsOf(document).map(({ operation }) => operation);
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
    for (const { summary, tags, responses } of operations) {
      expect(summary).not.toBe('');
      if (tags?.[0] !== 'meta') expect(responses).toHaveProperty('default');
    }
  });

  it('is served, with a reference page that needs nothing from elsewhere', async () => {
    const api = await createTestApi();
    const document = await api.call('GET', '/v1/openapi.json', { token: null });
    expect(await document.json()).toEqual(JSON.parse(JSON.stringify(apiDocument())));
    const page = await api.call('GET', '/docs', { token: null });
    const text = await page.text();
    expect(page.headers.get('content-type')).toContain('text/html');
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    const described = operationsOf(apiDocument());
    for (const { method, path } of described) {
      expect(text).toContain(`<b class="${method}">${method.toUpperCase()}</b> <code>${path}</code>`);
    }
    expect(text.match(/<b class=/g)).toHaveLength(described.length);
    expect(text).not.toMatch(/<script|<link|<img|src=|https?:\/\//);
  });

  it('is rendered with every method that an API may have', async () => {
    const operation = { tags: ['meta'], summary: 'Does it', responses: {} };
    const methods = ['get', 'put', 'post', 'patch', 'delete'] as const;
    const item = Object.fromEntries(methods.map((method) => [method, { ...operation, operationId: `${method}It` }]));
    const text: string = await renderDocs({ ...apiDocument(), paths: { '/v1/it': item } });
    expect([...text.matchAll(/<b class="(\w+)">/g)].map(([, method]) => method)).toEqual(methods);
  });
});

function operationsOf(document: ReturnType<typeof apiDocument>) {
  return Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    (['get', 'put', 'post', 'patch', 'delete'] as const).flatMap((method) =>
      item[method] === undefined ? [] : [{ path, method, operation: item[method] }],
    ),
  );
}
