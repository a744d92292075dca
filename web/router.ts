// The URL selects the page: links are real, so that the keyboard, new tabs and the back button work.
import { useEffect, useState } from 'preact/hooks';

import { leavePage } from './focus.ts';

export interface Visit {
  path: string;
  /** Changes with each link and each step back: a page then reads its URL again. */
  count: number;
}

export function useVisit(): Visit {
  const [visit, setVisit] = useState<Visit>({ path: location.pathname, count: 0 });
  useEffect(() => {
    const onChange = (): void => {
      leavePage();
      setVisit(({ count }) => ({ path: location.pathname, count: count + 1 }));
    };
    const onClick = (event: MouseEvent): void => {
      const link = event.target instanceof Element ? event.target.closest('a') : null;
      const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
      if (link === null || !isPlain || link.origin !== location.origin || link.target !== '' || !isPage(link.pathname))
        return;
      event.preventDefault();
      history.pushState(null, '', link.href);
      // A link to an anchor of this page does not reload it.
      if (link.hash === '') onChange();
      else document.querySelector<HTMLElement>('h1')?.focus();
      window.scrollTo(0, 0);
    };
    window.addEventListener('popstate', onChange);
    document.addEventListener('click', onClick);
    return () => {
      window.removeEventListener('popstate', onChange);
      document.removeEventListener('click', onClick);
    };
  }, []);
  return visit;
}

/**
 * The view of a list in the query of the page's URL, so that the back button, a reload and a shared link show the same. Default
 * values are omitted. Changes add no step to the browser's history.
 */
export function useQuery<T extends Record<string, string>>(defaults: T): [T, (value: T) => void] {
  const [value, setValue] = useState<T>(() => {
    const query = new URLSearchParams(location.search);
    return Object.fromEntries(Object.entries(defaults).map(([name, usual]) => [name, query.get(name) ?? usual])) as T;
  });
  const change = (next: T): void => {
    const query = new URLSearchParams(Object.entries(next).filter(([name, text]) => text !== defaults[name]));
    history.replaceState(null, '', query.size === 0 ? location.pathname : `${location.pathname}?${query.toString()}`);
    setValue(next);
  };
  return [value, change];
}

/** Navigates like a link to that page. */
export function open(path: string): void {
  history.pushState(null, '', path);
  window.dispatchEvent(new PopStateEvent('popstate'));
}

/** Whether a path belongs to the application. */
export const isAddress = (path: string): boolean =>
  isPage(path) || /^\/(signed-in|clusters\/\d+\/dashboard)$/.test(path);

/** Whether a path opens without reloading the application. */
export const isPage = (path: string): boolean =>
  /^\/((clusters|jobs)(\/\d+)?|schedules(\/[\w.-]+)?|spend|approvals|notifications|workspace|clouds)?$/.test(path);
