// The pages of a link in an e-mail. The link's secret is in the fragment of its address, which reaches no server: a script of the page, the only one,
// moves it into the form. Without scripts, the person pastes the link.
import { createHash } from 'node:crypto';

import { html, raw } from 'hono/html';

import { linkSeconds } from '../../services/login/mail.ts';
import { page } from './login-page.ts';

const script = `
const field = document.getElementById('link');
if (location.hash.length > 1) field.value = location.hash.slice(1);
history.replaceState(null, '', location.pathname);
`;

/** For the Content-Security-Policy. */
export const linkScriptHash = `'sha256-${createHash('sha256').update(script).digest('base64')}'`;

export const renderLink = () =>
  page(
    'Sign in',
    html`<p>
        You are signing in to Ropewalk with a link from an e-mail. It works in the browser in which the address was
        typed, and in no other.
      </p>
      <form method="post" action="/login/mail/link" autocomplete="off">
        <label>Link from the e-mail <input id="link" name="link" required maxlength="400" /></label>
        <p><button>Sign in</button></p>
      </form>
      ${raw(`<script>${script}</script>`)}`,
  );

export const renderRequested = () =>
  page(
    'Read your e-mail',
    html`<p>
      If a user here has this address, a link is on its way to it. Open the link in this browser, within
      ${linkSeconds / 60} minutes. A newer link replaces this one.
    </p>`,
  );

/** For people with access to several workspaces: the link is not used up yet. */
export const renderLinkChoice = (link: string, workspaces: readonly string[]) =>
  page(
    'Choose a workspace',
    html`<form method="post" action="/login/mail/link" autocomplete="off">
      <input type="hidden" name="link" value="${link}" />
      ${workspaces.map((slug) => html`<p><button name="workspace" value="${slug}">${slug}</button></p>`)}
    </form>`,
  );
