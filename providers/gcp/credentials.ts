// Application Default Credentials, searched by each request until they are found. Google's clients search during their
// initialization, where a failure is an unhandled rejection that ends the process.
import { AuthClient, GoogleAuth } from 'google-auth-library';

const scopes = ['https://www.googleapis.com/auth/cloud-platform'];

/** Without a status, Google's client would treat it as a broken connection and retry for ten minutes. */
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
    // Without a project, the library would run gcloud to find one.
    try {
      this.#found ??= await new GoogleAuth({ scopes, projectId: this.#project }).getClient();
      return this.#found;
    } catch (cause) {
      throw new MissingCredentials(cause);
    }
  }
}
