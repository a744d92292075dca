// The web application: signs in, chooses a page by the address, and keeps one stream open for it.
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import './styles.css';
import { readToken, removeToken, whoAmI, type Session } from './session.ts';
import { Shell } from './shell.tsx';
import { SignIn } from './pages/sign-in.tsx';

function App() {
  const [session, setSession] = useState<Session | null>(null);
  const [isReading, setReading] = useState(readToken() !== null);
  useEffect(() => {
    const token = readToken();
    if (token === null) return;
    whoAmI(token)
      .then(setSession, () => undefined)
      .finally(() => setReading(false));
  }, []);
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
