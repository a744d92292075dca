// Settings for sign-in at an identity provider and by links in e-mails, from the composition root.
import type { NewPeople } from '../../domain/people/sign-in.ts';
import type { Mailer } from '../../platform/mail/smtp.ts';
import type { OidcProvider } from '../../platform/oidc.ts';

export interface SignInSettings {
  /** The provider's name for people. */
  name: string;
  provider: OidcProvider;
  /** Allowed domains of e-mail addresses, in lower case; null for any. */
  domains: readonly string[] | null;
  /** Null: only people whom an admin has added may sign in. */
  newPeople: NewPeople | null;
  sessionMs: number;
}

export interface MailSignInSettings {
  mailer: Mailer;
  sessionMs: number;
}
