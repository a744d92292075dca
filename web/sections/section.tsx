// A part of a page with a heading, its own action beside it, and a sentence where there is nothing to show.
import type { ComponentChildren } from 'preact';

interface Props {
  title: string;
  empty?: string;
  isEmpty?: boolean;
  /** A button. */
  action?: ComponentChildren;
  /** An open form, or its result. */
  above?: ComponentChildren;
  children: ComponentChildren;
}

export const Section = ({ title, empty = '', isEmpty = false, action, above, children }: Props) => (
  <section aria-label={title}>
    <div class="heading">
      <h2 tabIndex={-1}>{title}</h2>
      {action}
    </div>
    {above}
    {isEmpty ? <p class="empty">{empty}</p> : children}
  </section>
);
