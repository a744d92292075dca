// What a check reports, and what it is given.

export interface Finding {
  /** One or two words: what was checked. */
  check: string;
  /** `warning`: works, but not everything or not for long. */
  state: 'ok' | 'warning' | 'broken';
  text: string;
  /** What to do; empty when all is well. */
  fix: string;
}

export interface Patient {
  env: Record<string, string | undefined>;
  home: string;
  /** Where the API is and how to sign in, or why that is not known. */
  connection: { apiUrl: string; token: string } | { problem: string };
  /** Resets workflows that a known fault has stopped, instead of only naming them. */
  resetStuck?: boolean;
}

export const ok = (check: string, text: string): Finding => ({ check, state: 'ok', text, fix: '' });
export const warning = (check: string, text: string, fix: string): Finding => ({ check, state: 'warning', text, fix });
export const broken = (check: string, text: string, fix: string): Finding => ({ check, state: 'broken', text, fix });
