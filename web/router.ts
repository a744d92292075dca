// The address names the page: links are real, so that the keyboard, new tabs and the back button work.
import { useEffect, useState } from 'preact/hooks';

export function usePath(): string {
  const [path, setPath] = useState(location.pathname);
  useEffect(() => {
    const onChange = (): void => setPath(location.pathname);
    const onClick = (event: MouseEvent): void => {
      const link = event.target instanceof Element ? event.target.closest('a') : null;
      const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
      if (link === null || !isPlain || link.origin !== location.origin || link.target !== '' || !isPage(link.pathname))
        return;
      event.preventDefault();
      history.pushState(null, '', link.href);
      onChange();
      window.scrollTo(0, 0);
      document.querySelector<HTMLElement>('h1')?.focus();
    };
    window.addEventListener('popstate', onChange);
    document.addEventListener('click', onClick);
    return () => {
      window.removeEventListener('popstate', onChange);
      document.removeEventListener('click', onClick);
    };
  }, []);
  return path;
}

/** As a link to that page. */
export function open(path: string): void {
  history.pushState(null, '', path);
  window.dispatchEvent(new PopStateEvent('popstate'));
}

/** An address of the application. */
export const isAddress = (path: string): boolean =>
  isPage(path) || /^\/(signed-in|clusters\/\d+\/dashboard)$/.test(path);

/** Of those that open without loading the application again. */
export const isPage = (path: string): boolean =>
  /^\/((clusters|jobs)(\/\d+)?|spend|approvals|workspace|clouds)?$/.test(path);
