// The focus of the keyboard when the focused element is removed: browsers would send it to the top of the page.
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

/** The first page that the browser shows begins at its top, with the link that skips the navigation. */
let hasLeftPage = false;

/** For the heading of a page: it takes the focus of the page before. */
export function usePageHeading(): RefObject<HTMLHeadingElement> {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (hasLeftPage && document.activeElement === document.body) heading.current?.focus({ preventScroll: true });
  }, []);
  return heading;
}

/** Called before another page is shown: the links of the navigation stay, and must not keep the focus. */
export function leavePage(): void {
  hasLeftPage = true;
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
}

/** For an element that may go while the page stays: its focus moves to the next row, else to the heading of its section or page. */
export function useFocusAfter<T extends HTMLElement>(): RefObject<T> {
  const element = useRef<T>(null);
  useLayoutEffect(() => () => moveFocusFrom(element.current), []);
  return element;
}

function moveFocusFrom(leaving: HTMLElement | null): void {
  if (leaving === null || !leaving.contains(document.activeElement)) return;
  const next = leaving.closest('tr')?.nextElementSibling?.querySelector<HTMLElement>('a, button');
  const heading = leaving.closest('section')?.querySelector<HTMLElement>('h2[tabindex]');
  // After the removal, which may be that of the next row too.
  queueMicrotask(() => {
    if (document.activeElement !== document.body) return;
    const places = [next, heading, document.querySelector<HTMLElement>('h1')];
    places.find((place) => place?.isConnected === true)?.focus();
  });
}
