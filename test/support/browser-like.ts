// Follows redirects as a browser does, with a cookie jar for each host and path, between an app in memory and real servers.

export interface Visit {
  /** The answer that is no redirect. */
  response: Response;
  /** Its address, fragment included. */
  url: URL;
  /** All addresses on the way. */
  urls: URL[];
}

interface Cookie {
  host: string;
  path: string;
  text: string;
}

export class BrowserLike {
  readonly cookies = new Map<string, Cookie>();
  private readonly fetchUrl: (url: URL, init: RequestInit) => Promise<Response>;

  constructor(fetchUrl: (url: URL, init: RequestInit) => Promise<Response>) {
    this.fetchUrl = fetchUrl;
  }

  /** Stops before an address that `until` accepts. */
  async visit(from: string | URL, until: (url: URL) => boolean = () => false): Promise<Visit> {
    let url = new URL(from);
    const urls = [url];
    for (let hops = 0; hops < 12; hops += 1) {
      const response = await this.fetchUrl(url, { headers: { cookie: this.cookiesFor(url) }, redirect: 'manual' });
      this.keep(url, response);
      const location = response.headers.get('location');
      if (location === null || response.status < 300 || response.status > 399) return { response, url, urls };
      await response.body?.cancel();
      url = new URL(location, url);
      urls.push(url);
      if (until(url)) return { response, url, urls };
    }
    throw new Error(`too many redirects: ${urls.map(String).join(' ')}`);
  }

  private cookiesFor({ host, pathname }: URL): string {
    return [...this.cookies.values()]
      .filter((cookie) => cookie.host === host && pathname.startsWith(cookie.path))
      .map(({ text }) => text)
      .join('; ');
  }

  private keep({ host }: URL, response: Response): void {
    for (const header of response.headers.getSetCookie()) {
      const [text = '', ...attributes] = header.split('; ');
      const [name = ''] = text.split('=');
      const path = attributes.find((each) => /^path=/i.test(each))?.slice(5) ?? '/';
      const isGone = attributes.some((each) => /^max-age=0$/i.test(each)) || header.includes('1970');
      if (isGone) this.cookies.delete(`${host} ${name}`);
      else this.cookies.set(`${host} ${name}`, { host, path, text });
    }
  }
}
