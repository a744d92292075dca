// The first page: the identity provider, one of the user's API tokens, or a device's code.
import { useEffect, useState } from 'preact/hooks';

import type { LoginMethods } from '../../schema/people.ts';

import { usePageHeading } from '../focus.ts';
import { beginSignIn } from '../sign-in.ts';
import { keepToken, whoAmI, type Session } from '../session.ts';

/** `refusal`: why the returned sign-in failed. */
export function SignIn({ refusal, onSignIn }: { refusal: string; onSignIn: (session: Session) => void }) {
  const [problem, setProblem] = useState(refusal);
  const [isBusy, setBusy] = useState(false);
  const heading = usePageHeading();
  const [isRemembered, setRemembered] = useState(false);
  const [provider, setProvider] = useState<LoginMethods['provider']>(null);
  useEffect(() => {
    document.title = 'Sign in · Ropewalk';
    // Without an answer, only tokens can sign in.
    readMethods().then(setProvider, () => undefined);
  }, []);
  const begin = (path: string): void => {
    setBusy(true);
    beginSignIn(path, isRemembered).catch((error: unknown) => {
      setBusy(false);
      setProblem(error instanceof Error ? error.message : String(error));
    });
  };
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget instanceof HTMLFormElement ? event.currentTarget : undefined);
    const given = form.get('token');
    const token = typeof given === 'string' ? given.trim() : '';
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
        <button class={provider === null ? 'primary' : ''} disabled={isBusy}>
          {provider === null ? 'Sign in' : 'Sign in with a token'}
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

async function readMethods(): Promise<LoginMethods['provider']> {
  const answer = await fetch('/v1/login/methods');
  const methods: LoginMethods = answer.ok ? await answer.json() : { provider: null };
  return methods.provider;
}
