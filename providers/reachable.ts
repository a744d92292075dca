/** Whether a URL is local to this machine and unreachable for cloud instances. */
export function isLoopback(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { hostname } = new URL(url);
  return /^(127\.\d+\.\d+\.\d+|\[::1\]|localhost|.*\.localhost|0\.0\.0\.0)$/.test(hostname);
}
