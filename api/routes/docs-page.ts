// The API reference as one self-contained page, without scripts, fonts or external resources. Built once from the document.
import type { OpenAPIHono } from '@hono/zod-openapi';
import { html, raw } from 'hono/html';

export type ApiDocument = ReturnType<OpenAPIHono['getOpenAPI31Document']>;

export function renderDocs(document: ApiDocument) {
  const operations = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    methods.flatMap((method) => (item[method] === undefined ? [] : [{ path, method, operation: item[method] }])),
  );
  const sections = (document.tags ?? []).map((tag) => {
    const own = operations.filter(({ operation }) => operation.tags?.includes(tag.name));
    return html`<h2 id="${tag.name}">${tag.name}</h2>
      <p>${tag.description}</p>
      ${own.map(renderOperation)}`;
  });
  const schemas = Object.entries(document.components?.schemas ?? {}).map(
    ([name, schema]) =>
      html`<details id="${name}">
        <summary>${name}</summary>
        <pre>${linked(schema)}</pre>
      </details>`,
  );
  const { title, description } = document.info;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} API reference</title>
        <style>
          ${raw(style)}
        </style>
      </head>
      <body>
        <h1>${title} API reference</h1>
        <p>${description}</p>
        <p>As a document: <a href="/v1/openapi.json">/v1/openapi.json</a></p>
        ${sections}
        <h2>Schemas</h2>
        ${schemas}
      </body>
    </html>`;
}

const methods = ['get', 'put', 'post', 'patch', 'delete'] as const;

type Operation = NonNullable<NonNullable<ApiDocument['paths']>[string]['get']>;

function renderOperation({ path, method, operation }: { path: string; method: string; operation: Operation }) {
  const { summary, parameters, requestBody, responses } = operation;
  return html`<details id="${operation.operationId}">
    <summary><b class="${method}">${method.toUpperCase()}</b> <code>${path}</code> ${summary}</summary>
    ${
      parameters === undefined
        ? ''
        : html`<h3>Parameters</h3>
            <pre>${linked(parameters)}</pre>`
    }
    ${
      requestBody === undefined
        ? ''
        : html`<h3>Body</h3>
            <pre>${linked(requestBody)}</pre>`
    }
    <h3>Answers</h3>
    <pre>${linked(responses)}</pre>
  </details>`;
}

/** Formats JSON with links for its references to schemas. */
function linked(value: unknown) {
  const parts = JSON.stringify(value, null, 2).split(/"#\/components\/schemas\/(\w+)"/);
  return parts.map((part, index) => (index % 2 === 0 ? part : html`<a href="#${part}">${part}</a>`));
}

const style = `
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a; background: #fff; }
  h1, h2 { line-height: 1.2; } h2 { margin-top: 2.5rem; text-transform: capitalize; } h3 { margin: .5rem 0; font-size: 1rem; }
  details { border: 1px solid #d5d5d5; border-radius: 6px; padding: .5rem .75rem; margin: .5rem 0; }
  summary { cursor: pointer; } pre { overflow-x: auto; background: #f6f6f4; padding: .75rem; font-size: .85rem; }
  .get { color: #17594a; } .post, .put, .patch, .delete { color: #7a3e00; } a { color: #0b5394; }
  @media (prefers-color-scheme: dark) {
    body { color: #e8e8e6; background: #1b1c1d; } pre { background: #26282a; } details { border-color: #44474a; }
    a { color: #8ab8e6; } .get { color: #7fcfb6; } .post, .put, .patch, .delete { color: #e6b07a; }
  }`;
