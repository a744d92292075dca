// The first page: one of the user's API tokens, or a device's code.
import { useState } from 'preact/hooks';

import { keepToken, whoAmI, type Session } from '../session.ts';

export function SignIn({ onSignIn }: { onSignIn: (session: Session) => void }) {
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget instanceof HTMLFormElement ? event.currentTarget : undefined);
    const given = form.get('token');
    const token = typeof given === 'string' ? given.trim() : '';
    setBusy(true);
    whoAmI(token)
      .then((session) => {
        keepToken(token, form.get('remember') !== null);
        onSignIn(session);
      })
      .catch((error: unknown) => setProblem(error instanceof Error ? error.message : String(error)))
      .finally(() => setBusy(false));
  };
  return (
    <main class="sign-in">
      <h1>Ropewalk</h1>
      <p>Dask clusters and batch jobs on your own machines.</p>
      <form onSubmit={submit}>
        <label>
          One of your API tokens
          <input name="token" type="password" autocomplete="off" required maxLength={400} placeholder="rw_…" />
        </label>
        <label class="check">
          <input name="remember" type="checkbox" /> Keep me signed in on this computer
        </label>
        <button class="primary" disabled={isBusy}>
          Sign in
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
