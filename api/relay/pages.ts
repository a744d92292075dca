// Pages for a missing dashboard: the problem and the remedy. Also the page between a link and a session. Every value in a page is a number or our own
// text.
import type { ServerResponse } from 'node:http';

import { ownSecurity } from './headers.ts';
import { rootOf, startOf } from './paths.ts';
import type { SiteOfCluster } from './session.ts';

export interface Page {
  status: number;
  title: string;
  /** Paragraphs. */
  text: string[];
  /** A command for the user to type. */
  command?: string;
  link?: { href: string; text: string };
}

/** For our own sentences. */
const names = { dashboard: 'the dashboard', jupyter: 'Jupyter' } as const;
const inPython = ({ cluster, site }: SiteOfCluster): string =>
  site === 'jupyter'
    ? 'In Python, cluster.jupyter_link gives one.'
    : `Browsers that are signed in to Ropewalk open /clusters/${cluster}/dashboard there, which stays good: cluster.dashboard_link in Python; cluster.get_dashboard_link() gives a link.`;
/** A page of the API: a browser that is signed in there creates a new link and follows it. */
const wayBack = ({ cluster, site }: SiteOfCluster, apiUrl: string): Pick<Page, 'link'> => {
  if (site === 'jupyter') return {};
  const { href } = new URL(`clusters/${cluster}/dashboard`, apiUrl.endsWith('/') ? apiUrl : `${apiUrl}/`);
  return { link: { href, text: 'Open it with your sign-in to Ropewalk' } };
};
const nameOf = ({ cluster, site }: SiteOfCluster): string => `${names[site]} of cluster ${cluster}`;

export const howToGetALink = ({ cluster, site }: SiteOfCluster): Pick<Page, 'text' | 'command'> => ({
  text: [
    `A link is good for five minutes, and opens ${names[site]} for eight hours in the browser that follows it.`,
    `${inPython({ cluster, site })} On a terminal:`,
  ],
  command: `ropewalk cluster ${site} ${cluster}`,
});

export const signInPage = (at: SiteOfCluster, apiUrl: string): Page => ({
  status: 401,
  title: `You are not signed in to ${nameOf(at)}`,
  ...howToGetALink(at),
  ...wayBack(at, apiUrl),
});

export const staleLinkPage = (at: SiteOfCluster, apiUrl: string): Page => ({
  status: 401,
  title: 'This link is no longer good',
  ...howToGetALink(at),
  ...wayBack(at, apiUrl),
});

export const missingPage = (at: SiteOfCluster): Page => ({
  status: 404,
  title: 'There is no such page',
  text: [`Cluster ${at.cluster} may have it, but it is not among those that are shown here. Start at ${rootOf(at)}.`],
});

export const noJupyterPage = ({ cluster }: SiteOfCluster): Page => ({
  status: 404,
  title: `Cluster ${cluster} has no Jupyter`,
  text: ['It was started without. A new cluster has it with jupyter=True in Python, or --jupyter on a terminal.'],
});

/** For the port that serves only dashboards. */
export const nothingPage: Page = {
  status: 404,
  title: 'No dashboard has this address',
  text: ['Dashboards have the address /clusters/NUMBER/dashboard/. Everything else is at the address of the API.'],
};

export const awayPage = (at: SiteOfCluster): Page => ({
  status: 503,
  title: `${capital(nameOf(at))} is not here now`,
  text: [
    'Its scheduler may not have started yet, the cluster may be over, or its connection was lost and is being made anew.',
    'Try again in a few seconds. If it stays away while the cluster is ready, this API has several replicas and the request reached one that the cluster is not connected to: docs/dashboard.md says what the operator sets.',
  ],
});

export const fullPage = (at: SiteOfCluster): Page => ({
  status: 503,
  title: `${capital(nameOf(at))} is busy`,
  text: ['Too many pages of it are open. Close some, or try again in a few seconds.'],
});

export const silentPage = (at: SiteOfCluster): Page => ({
  status: 502,
  title: `${capital(nameOf(at))} does not answer`,
  text: ['Its scheduler may be starting, overloaded, or over. Try again in a few seconds.'],
});

export const methodPage: Page = {
  status: 405,
  title: 'The dashboard can only be read',
  text: ['Use GET.'],
};

export const workerPage: Page = {
  status: 403,
  title: 'No script of a dashboard may stay in the browser',
  text: ['Service workers are refused.'],
};

export const originPage: Page = {
  status: 403,
  title: 'This page may not connect to the dashboard',
  text: ['A websocket is opened from the dashboard itself, at its public address (ROPEWALK_DASHBOARD_URL).'],
};

const capital = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;

export function sendPage(response: ServerResponse, page: Page): void {
  const body = renderPage(page);
  response.writeHead(page.status, { ...pageHeaders(page), 'content-length': Buffer.byteLength(body) });
  response.end(response.req.method === 'HEAD' ? undefined : body);
}

/**
 * Sets the cookie and continues without the link's token. This is a page instead of a redirect: after a redirect the browser still counts the site
 * with the link as the request's origin, and does not send a strict cookie.
 */
export function sendWelcome(response: ServerResponse, at: SiteOfCluster, cookie: string): void {
  const target = startOf(at);
  const head = `<meta http-equiv="refresh" content="0; url=${target}">`;
  const name = names[at.site];
  const body = document(`${capital(name)} opens`, `<p><a href="${target}">Go on to ${name}</a></p>`, head);
  response.writeHead(200, {
    ...ownSecurity,
    'content-type': 'text/html; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'set-cookie': cookie,
  });
  response.end(response.req.method === 'HEAD' ? undefined : body);
}

export const pageHeaders = ({ status }: Page): Record<string, string> => ({
  ...ownSecurity,
  'content-type': 'text/html; charset=utf-8',
  ...(status === 503 ? { 'retry-after': '2' } : {}),
  ...(status === 405 ? { allow: 'GET, HEAD' } : {}),
});

export function renderPage({ title, text, command, link }: Page): string {
  const paragraphs = text.map((paragraph) => `<p>${paragraph}</p>`);
  const typed = command === undefined ? [] : [`<pre>${command}</pre>`];
  const back = link === undefined ? [] : [`<p><a href="${link.href}">${link.text}</a></p>`];
  return document(title, [...back, ...paragraphs, ...typed].join('\n'), '');
}

const document = (title: string, content: string, head: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
${head}<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 40rem; margin: 4rem auto; padding: 0 1rem; color: #1a1a1a; background: #fff; }
h1 { font-size: 1.4rem; line-height: 1.25; } pre { background: #f6f6f4; padding: .75rem; overflow-x: auto; } a { color: #0b5394; }
@media (prefers-color-scheme: dark) {
  body { color: #e8e8e6; background: #1b1c1d; } pre { background: #26282a; } a { color: #8ab8e6; }
}
</style>
</head>
<body>
<h1>${title}</h1>
${content}
</body>
</html>
`;
