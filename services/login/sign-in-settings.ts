// How people sign in at an identity provider, as the composition root brings it.
import type { NewPeople } from '../../domain/people/sign-in.ts';
import type { OidcProvider } from '../../platform/oidc.ts';

export interface SignInSettings {
  /** As people know the provider. */
  name: string;
  provider: OidcProvider;
  /** Of e-mail addresses that sign in, in lower case; null: any. */
  domains: readonly string[] | null;
  /** Null: only people whom an admin has added sign in. */
  newPeople: NewPeople | null;
  sessionMs: number;
}
