// The first page: the identity provider, a link in an e-mail, one of the user's API tokens, or a device's code.
import { useEffect, useState } from 'preact/hooks';

import type { LoginMethods } from '../../schema/people.ts';

import { usePageHeading } from '../focus.ts';
import { beginSignIn, requestLink } from '../sign-in.ts';
import { keepToken, whoAmI, type Session } from '../session.ts';

/** `refusal`: why the returned sign-in failed. */
export function SignIn({ refusal, onSignIn }: { refusal: string; onSignIn: (session: Session) => void }) {
  const [problem, setProblem] = useState(refusal);
  const [isBusy, setBusy] = useState(false);
  const heading = usePageHeading();
  const [isRemembered, setRemembered] = useState(false);
  const [{ provider, mail }, setMethods] = useState(onlyTokens);
  const [requested, setRequested] = useState('');
  useEffect(() => {
    document.title = 'Sign in · Ropewalk';
    // Without an answer, only tokens can sign in.
    readMethods().then(setMethods, () => undefined);
  }, []);
  const isTokenOnly = provider === null && !mail;
  const begin = (path: string): void => {
    setBusy(true);
    beginSignIn(path, isRemembered).catch((error: unknown) => {
      setBusy(false);
      setProblem(error instanceof Error ? error.message : String(error));
    });
  };
  const request = (event: SubmitEvent): void => {
    event.preventDefault();
    const address = fieldOf(event, 'address');
    setBusy(true);
    setProblem('');
    setRequested('');
    requestLink(address, isRemembered)
      .then(() => setRequested(address))
      .catch((error: unknown) => setProblem(error instanceof Error ? error.message : String(error)))
      .finally(() => setBusy(false));
  };
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const token = fieldOf(event, 'token');
    setBusy(true);
    whoAmI(token)
      .then((session) => {
        keepToken(token, isRemembered);
        onSignIn(session);
      })
      .catch((error: unknown) => setProblem(error instanceof Error ? error.message : String(error)))
      .finally(() => setBusy(false));
  };
  return (
    <main class="sign-in">
      <h1 ref={heading} tabIndex={-1}>
        Ropewalk
      </h1>
      <p>Dask clusters and batch jobs on your own machines.</p>
      {provider !== null && (
        <p>
          <button class="primary" disabled={isBusy} onClick={() => begin(provider.path)}>
            Sign in with {provider.name}
          </button>
        </p>
      )}
      {mail && (
        <form onSubmit={request}>
          <label>
            Your e-mail address
            <input name="address" type="email" autocomplete="email" required maxLength={254} />
          </label>
          <button class={provider === null ? 'primary' : ''} disabled={isBusy}>
            Send me a link to sign in
          </button>
          {requested !== '' && (
            <p role="status">
              If a user here has the address {requested}, a link is on its way to it. Open the link in this browser,
              within 15 minutes.
            </p>
          )}
        </form>
      )}
      <form onSubmit={submit}>
        <label>
          One of your API tokens
          <input name="token" type="password" autocomplete="off" required maxLength={400} placeholder="rw_…" />
        </label>
        <label class="check">
          <input
            name="remember"
            type="checkbox"
            checked={isRemembered}
            onChange={(event) => setRemembered(event.currentTarget.checked)}
          />{' '}
          Keep me signed in on this computer
        </label>
        <button class={isTokenOnly ? 'primary' : ''} disabled={isBusy}>
          {isTokenOnly ? 'Sign in' : 'Sign in with a token'}
        </button>
        {problem !== '' && <p role="alert">{problem}</p>}
      </form>
      <p>
        <code>ropewalk token create</code> makes a token; <code>ropewalk dev</code> has written one to{' '}
        <code>config.yaml</code> in its home. To sign in a terminal instead, <a href="/login">enter its code</a>.
      </p>
    </main>
  );
}

function fieldOf({ currentTarget }: SubmitEvent, name: string): string {
  const given = new FormData(currentTarget instanceof HTMLFormElement ? currentTarget : undefined).get(name);
  return typeof given === 'string' ? given.trim() : '';
}

const onlyTokens: LoginMethods = { provider: null, mail: false };

async function readMethods(): Promise<LoginMethods> {
  const answer = await fetch('/v1/login/methods');
  return answer.ok ? answer.json() : onlyTokens;
}
