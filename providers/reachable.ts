/** Whether a URL is local to this machine, so that no cloud instance could reach it. */
export function isLoopback(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { hostname } = new URL(url);
  return /^(127\.\d+\.\d+\.\d+|\[::1\]|localhost|.*\.localhost|0\.0\.0\.0)$/.test(hostname);
}
