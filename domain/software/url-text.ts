// Removes secrets from URLs of package indexes and required files before they are shown. Every part except the host may be secret: user and password,
// a signature in the query, and the path, since some indexes have the token there.

/** Reduces every URL in a text to its scheme, its host and, where it names a package or a repository, its file name. Idempotent. */
export const withoutUrlSecrets = (text: string): string =>
  text.replaceAll(urls, (_, scheme: string, rest: string) => {
    const end = rest.slice(rest.length - punctuationAtEnd(rest));
    const [address = ''] = rest.slice(0, rest.length - end.length).split(/[?#]/);
    const [authority = '', ...names] = address.split(/[/\\]/);
    const at = authority.lastIndexOf('@');
    const host = authority.slice(at + 1);
    const shown = hostSyntax.test(host) ? host : '…';
    const path = publicHosts.has(host) ? ['', ...names].join('/') : shortPath(names);
    return `${scheme}://${at === -1 ? '' : '[secret]@'}${shown}${path}${end}`;
  });

/** Schemes are short. Without a bound, each character of a text without blanks would begin a search to its end. */
const urls = /([A-Za-z][A-Za-z0-9+.-]{0,29}):\/+(\S*)/g;

function punctuationAtEnd(text: string): number {
  let length = 0;
  while (length < text.length && `)]}\`'",.;:`.includes(text.charAt(text.length - 1 - length))) length += 1;
  return length;
}

const hostSyntax = /^(?:[A-Za-z0-9.-]*|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/;
/** Paths on these hosts are useful hints. */
const publicHosts = new Set(['pypi.org', 'files.pythonhosted.org', 'docs.astral.sh', 'packaging.python.org']);

function shortPath(names: readonly string[]): string {
  if (names.every((name) => name === '')) return '';
  const file = /^([A-Za-z0-9][\w.+!-]*\.(?:whl|zip|git|tgz|tar\.\w+))(?:@.*)?$/.exec(names.at(-1) ?? '')?.[1];
  return file === undefined ? '/…' : `/…/${file}`;
}

/** git has a repository's whole URL in its arguments, which every user of a machine can read. */
export function hasGitCredentials(requirement: string): boolean {
  return [...requirement.matchAll(/git\+([A-Za-z]+):\/*(\S*)/gi)].some(([, scheme = '', rest = '']) => {
    const [address = ''] = rest.split('#');
    const [authority = ''] = address.split(/[/?]/);
    const user = authority.slice(0, Math.max(0, authority.lastIndexOf('@')));
    // The user name of SSH is not secret.
    return address.includes('?') || (scheme.toLowerCase() === 'ssh' ? user.includes(':') : user !== '');
  });
}

/**
 * True when the URL of a requirement may contain a secret. uv writes it into the environment (`direct_url.json` of PEP 610), so such an environment
 * is not stored.
 */
export function mayHoldSecretUrl(requirement: string): boolean {
  return [...requirement.matchAll(urls)].some(([url, scheme = '', rest = '']) => {
    if (/^git\+/i.test(scheme)) return hasGitCredentials(url);
    const [address = ''] = rest.split('#');
    return address.includes('?') || !publicHosts.has(address.split('/')[0] ?? '');
  });
}
