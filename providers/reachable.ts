/** Whether a URL is of this machine only, so that no instance of a cloud could reach it. */
export function isLoopback(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { hostname } = new URL(url);
  return /^(127\.\d+\.\d+\.\d+|\[::1\]|localhost|.*\.localhost|0\.0\.0\.0)$/.test(hostname);
}
