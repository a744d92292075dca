// The web application: signs in, chooses a page by the address, and keeps one stream open for it.
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import './styles.css';
import { readToken, removeToken, UnreachableError, whoAmI, type Session } from './session.ts';
import { Shell } from './shell.tsx';
import { SignIn } from './pages/sign-in.tsx';

const retryMs = 2_000;

function App() {
  const [session, setSession] = useState<Session | null>(null);
  const [isReading, setReading] = useState(readToken() !== null);
  const [problem, setProblem] = useState('');
  useEffect(() => {
    const token = readToken();
    if (token === null) return;
    let retry: ReturnType<typeof setTimeout> | undefined;
    const read = (): void =>
      void whoAmI(token)
        .then(setSession)
        .then(() => setReading(false))
        .catch((error: unknown) => {
          // The token may be good: only an answer about it leads to the sign-in page.
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
  if (session === null) return <SignIn onSignIn={setSession} />;
  const signOut = (): void => {
    removeToken();
    setSession(null);
  };
  return <Shell session={session} onSignOut={signOut} />;
}

const root = document.getElementById('app');
if (root !== null) render(<App />, root);
