// Application Default Credentials, looked for by each request until they are found. Google's clients look for them while they prepare
// themselves, and a failure there is a rejection that nothing handles: it ends the process, and no caller can catch it.
import { AuthClient, GoogleAuth } from 'google-auth-library';

const scopes = ['https://www.googleapis.com/auth/cloud-platform'];

/** Without a status Google's client would take it for a broken connection, and repeat the request for ten minutes. */
class MissingCredentials extends Error {
  readonly status = 401;
  constructor(cause: unknown) {
    super(`there are no credentials: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

export class DeferredCredentials extends AuthClient {
  readonly #project: string;
  #found: AuthClient | null = null;

  constructor(project: string) {
    super();
    this.#project = project;
  }

  override async request<T>(
    options: Parameters<AuthClient['request']>[0],
  ): ReturnType<typeof AuthClient.prototype.request<T>> {
    return (await this.#client()).request<T>(options);
  }

  override async getRequestHeaders(url?: string | URL): Promise<Headers> {
    return (await this.#client()).getRequestHeaders(url);
  }

  override async getAccessToken(): ReturnType<AuthClient['getAccessToken']> {
    return (await this.#client()).getAccessToken();
  }

  async #client(): Promise<AuthClient> {
    // Without a project the library would run gcloud to ask for one.
    try {
      this.#found ??= await new GoogleAuth({ scopes, projectId: this.#project }).getClient();
      return this.#found;
    } catch (cause) {
      throw new MissingCredentials(cause);
    }
  }
}
