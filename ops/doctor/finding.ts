// The result of a check, and its input.

export interface Finding {
  /** The checked subject, in one or two words. */
  check: string;
  /** `warning`: works, but incompletely or not for long. */
  state: 'ok' | 'warning' | 'broken';
  text: string;
  /** A remedy; empty for a good finding. */
  fix: string;
}

export interface Patient {
  env: Record<string, string | undefined>;
  home: string;
  /** The API's address and token, or why they are unknown. */
  connection: { apiUrl: string; token: string } | { problem: string };
  /** Resets workflows that a known fault has stopped, instead of only listing them. */
  resetStuck?: boolean;
}

export const ok = (check: string, text: string): Finding => ({ check, state: 'ok', text, fix: '' });
export const warning = (check: string, text: string, fix: string): Finding => ({ check, state: 'warning', text, fix });
export const broken = (check: string, text: string, fix: string): Finding => ({ check, state: 'broken', text, fix });
