// What may be shown of URLs: of a package index, or of a file that a requirement names. Any part of one but its host may be a secret: user
// and password, a signature in the query, and a path, since some indexes have the token there.

/** Every URL in a text as its scheme, its host and, where it names a package or a repository, its file's name. Twice is once. */
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

/** A scheme has few characters: without a bound, each character of a text without blanks would begin a search to its end. */
const urls = /([A-Za-z][A-Za-z0-9+.-]{0,29}):\/+(\S*)/g;

function punctuationAtEnd(text: string): number {
  let length = 0;
  while (length < text.length && `)]}\`'",.;:`.includes(text.charAt(text.length - 1 - length))) length += 1;
  return length;
}

const hostSyntax = /^(?:[A-Za-z0-9.-]*|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/;
/** Their paths are hints. */
const publicHosts = new Set(['pypi.org', 'files.pythonhosted.org', 'docs.astral.sh', 'packaging.python.org']);

function shortPath(names: readonly string[]): string {
  if (names.every((name) => name === '')) return '';
  const file = /^([A-Za-z0-9][\w.+!-]*\.(?:whl|zip|git|tgz|tar\.\w+))(?:@.*)?$/.exec(names.at(-1) ?? '')?.[1];
  return file === undefined ? '/…' : `/…/${file}`;
}

/** git has the whole URL of a repository in its arguments, where every user of a machine can read it. */
export function hasGitCredentials(requirement: string): boolean {
  return [...requirement.matchAll(/git\+([A-Za-z]+):\/*(\S*)/gi)].some(([, scheme = '', rest = '']) => {
    const [address = ''] = rest.split('#');
    const [authority = ''] = address.split(/[/?]/);
    const user = authority.slice(0, Math.max(0, authority.lastIndexOf('@')));
    // The user of SSH is no secret.
    return address.includes('?') || (scheme.toLowerCase() === 'ssh' ? user.includes(':') : user !== '');
  });
}

/**
 * Whether the URL of a requirement may be a secret. uv writes it into the environment (`direct_url.json` of PEP 610), so that such an
 * environment is not stored.
 */
export function mayHoldSecretUrl(requirement: string): boolean {
  return [...requirement.matchAll(urls)].some(([url, scheme = '', rest = '']) => {
    if (/^git\+/i.test(scheme)) return hasGitCredentials(url);
    const [address = ''] = rest.split('#');
    return address.includes('?') || !publicHosts.has(address.split('/')[0] ?? '');
  });
}
