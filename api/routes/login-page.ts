// The page on which a person approves a device's sign-in. No script, no external resources; all foreign text is escaped.
import { html } from 'hono/html';

import type { FinishedSignIn } from '../../services/login/sign-in.ts';

type WorkspaceChoice = Extract<FinishedSignIn['outcome'], { choose: unknown }>['choose'][number];

/**
 * `token`: of the person who has just signed in. `provider`: the name of the identity provider, if there is one. `mail`: links in e-mails sign in.
 */
export const renderLogin = ({
  code,
  problem,
  token,
  provider,
  mail,
}: {
  code: string;
  problem?: string;
  token?: string;
  provider: string | null;
  mail: boolean;
}) =>
  page(
    'Sign in on a device',
    html`<p>
        A device asks to sign in as you. Compare the code with the one that it shows: approve only what you have started
        yourself.
      </p>
      ${problem === undefined ? '' : html`<p class="problem" role="alert">${problem}</p>`}
      <form method="post" action="/login" autocomplete="off">
        <label>Code <input name="code" value="${code.slice(0, 20)}" required maxlength="20" /></label>
        ${
          token === undefined
            ? html`<label>
                One of your API tokens <input name="token" type="password" required maxlength="400" />
              </label>`
            : html`<input type="hidden" name="token" value="${token}" />`
        }
        <p><button>Continue</button></p>
      </form>
      ${
        provider === null
          ? ''
          : html`<p>
              Without a token:
              <a href="/login/oidc?code=${encodeURIComponent(code.slice(0, 20))}">sign in with ${provider}</a>
            </p>`
      }
      ${
        mail
          ? html`<form method="post" action="/login/mail">
              <input type="hidden" name="code" value="${code.slice(0, 20)}" />
              <label>
                Your e-mail address
                <input name="address" type="email" autocomplete="email" required maxlength="254" />
              </label>
              <p><button>Send me a link to sign in</button></p>
            </form>`
          : ''
      }`,
  );

/** Returns the token to the browser that has just sent it, so it is typed only once. */
export const renderDecision = (asked: {
  code: string;
  token: string;
  user: string;
  workspace: string;
  scopes: readonly string[];
  client: string;
  place: string | null;
}) =>
  page(
    'Sign in on a device',
    html`<p>The device calls itself <b>${asked.client === '' ? '(no name)' : asked.client}</b>.</p>
      <p>
        It asked from <b>${asked.place ?? 'this machine or an unknown address'}</b>. Its code is <b>${asked.code}</b>.
      </p>
      <p>It will act as <b>${asked.user}</b> in workspace <b>${asked.workspace}</b>, as far as you choose here.</p>
      <form method="post" action="/login" autocomplete="off">
        <input type="hidden" name="code" value="${asked.code}" />
        <input type="hidden" name="token" value="${asked.token}" />
        <label>
          It may
          <select name="scopes">
            ${choicesOf(asked.scopes).map((choice) => html`<option>${choice}</option>`)}
          </select>
        </label>
        <label>
          For
          <select name="expires">
            <option>30 days</option>
            <option>1 day</option>
            <option>365 days</option>
          </select>
        </label>
        <p>
          <button name="decision" value="approve">Approve</button>
          <button name="decision" value="deny">Deny</button>
        </p>
      </form>`,
  );

/** The usual choice first. */
const choicesOf = (scopes: readonly string[]): string[] => {
  const usual = scopes.filter((scope) => scope === 'read' || scope === 'write').join(' ');
  return [...new Set([usual === '' ? 'read' : usual, 'read', scopes.join(' ')])];
};

export const renderOutcome = (text: string, { title = 'Sign in on a device', back = '' } = {}) =>
  page(
    title,
    html`<p>${text}</p>
      ${back === '' ? '' : html`<p><a href="${back}">Back to the start</a></p>`}`,
  );

/** For people with access to several workspaces. */
export const renderChoice = (choices: readonly (WorkspaceChoice & { href: string })[]) =>
  page(
    'Choose a workspace',
    html`<ul>
      ${choices.map(({ workspace, how, href }) => html`<li><a href="${href}">${workspace}</a> ${howText[how]}</li>`)}
    </ul>`,
  );

const howText = {
  tied: '',
  added: '(an admin of it has added your address; you have not signed in there yet)',
  new: '(new: you become a user of it)',
} as const;

export const page = (title: string, content: unknown) =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <style>
          :root {
            color-scheme: light dark;
          }
          body {
            font:
              16px/1.5 system-ui,
              sans-serif;
            max-width: 40rem;
            margin: 4rem auto;
            padding: 0 1rem;
            color: #1a1a1a;
            background: #fff;
          }
          label {
            display: block;
            margin: 1rem 0;
          }
          input {
            display: block;
            width: 100%;
            font: inherit;
            padding: 0.4rem;
            box-sizing: border-box;
          }
          input,
          select,
          button {
            color: inherit;
            background: #fff;
            border: 1px solid #767676;
            border-radius: 4px;
          }
          select,
          button {
            font: inherit;
            padding: 0.3rem 0.7rem;
          }
          .problem {
            color: #a00;
          }
          a {
            color: #0b5fa5;
          }
          @media (prefers-color-scheme: dark) {
            body {
              color: #e8e8e6;
              background: #1b1c1d;
            }
            input,
            select,
            button {
              background: #262829;
              border-color: #8b9096;
            }
            .problem {
              color: #f99;
            }
            a {
              color: #7cb8f0;
            }
          }
        </style>
      </head>
      <body>
        <h1>${title}</h1>
        ${content}
      </body>
    </html>`;
