// The web application: signs in, selects a page by the URL, and keeps one stream open for it.
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import './styles.css';
import { onSessionEnd, readToken, removeToken, signOut, UnreachableError, whoAmI, type Session } from './session.ts';
import { Shell } from './shell.tsx';
import { leavePage } from './focus.ts';
import { NoSuchPage } from './pages/no-such-page.tsx';
import { isAddress } from './router.ts';
import { SignIn } from './pages/sign-in.tsx';
import { signedInPath, takeSignIn } from './sign-in.ts';

const retryMs = 2_000;

function App() {
  const [session, setSession] = useState<Session | null>(null);
  const isBack = location.pathname === signedInPath;
  const [isReading, setReading] = useState(isBack || readToken() !== null);
  const [problem, setProblem] = useState('');
  const [refusal, setRefusal] = useState('');
  useEffect(
    () =>
      onSessionEnd(({ token }) => {
        if (readToken() === token) removeToken();
        setRefusal('Your sign-in has ended: its token was revoked or has expired. Sign in again to go on here.');
        setSession((now) => (now?.token === token ? null : now));
      }),
    [],
  );
  useEffect(() => {
    if (isBack) {
      takeSignIn()
        .then(setSession)
        .catch((error: unknown) => setRefusal(error instanceof Error ? error.message : String(error)))
        .finally(() => setReading(false));
      return;
    }
    const token = readToken();
    if (token === null) return;
    let retry: ReturnType<typeof setTimeout> | undefined;
    const read = (): void =>
      void whoAmI(token)
        .then(setSession)
        .then(() => setReading(false))
        .catch((error: unknown) => {
          // The token may still be valid: only an answer about it leads to the sign-in page.
          if (!(error instanceof UnreachableError)) return setReading(false);
          setProblem(error.message);
          retry = setTimeout(read, retryMs);
        });
    read();
    return () => clearTimeout(retry);
  }, []);
  if (isReading && problem !== '') {
    return (
      <main class="center" role="alert">
        {problem} Trying again…
      </main>
    );
  }
  if (isReading) return <p class="center">Signing in…</p>;
  if (session === null && !isAddress(location.pathname)) {
    return (
      <main class="center">
        <NoSuchPage />
      </main>
    );
  }
  if (session === null) return <SignIn refusal={refusal} onSignIn={setSession} />;
  const leave = (): void => {
    signOut(session);
    leavePage();
    setRefusal('');
    setSession(null);
  };
  return <Shell session={session} onSignOut={leave} />;
}

const root = document.getElementById('app');
if (root !== null) render(<App />, root);
