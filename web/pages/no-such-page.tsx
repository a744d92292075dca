// The page for an unknown URL.
import { Title } from '../parts.tsx';

export const NoSuchPage = () => (
  <>
    <Title text="There is no such page" />
    <p>
      Check the address, or go to <a href="/clusters">the list of clusters</a> or <a href="/jobs">the list of jobs</a>.
    </p>
  </>
);
