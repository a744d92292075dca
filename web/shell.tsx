// The frame of every page: navigation, the signed-in user, and the page itself.
import { isPage, useVisit } from './router.ts';
import { isAdmin, type Session } from './session.ts';
import { ApprovalsPage } from './pages/approvals.tsx';
import { ClusterPage } from './pages/cluster.tsx';
import { CloudsPage } from './pages/clouds.tsx';
import { ClustersPage } from './pages/clusters.tsx';
import { DashboardPage } from './pages/dashboard.tsx';
import { JobPage } from './pages/job.tsx';
import { JobsPage } from './pages/jobs.tsx';
import { NoSuchPage } from './pages/no-such-page.tsx';
import { NotificationsPage } from './pages/notifications.tsx';
import { SchedulePage } from './pages/schedule.tsx';
import { SchedulesPage } from './pages/schedules.tsx';
import { SpendPage } from './pages/spend.tsx';
import { WorkspacePage } from './pages/workspace.tsx';

export function Shell({ session, onSignOut }: { session: Session; onSignOut: () => void }) {
  const { path, count } = useVisit();
  const link = (href: string, text: string) => (
    <a href={href} aria-current={path === href || path.startsWith(`${href}/`) ? 'page' : undefined}>
      {text}
    </a>
  );
  return (
    <>
      <a class="skip" href="#main">
        Skip to the page
      </a>
      <header>
        <a class="brand" href="/">
          Ropewalk
        </a>
        <nav aria-label="Pages">
          {link('/clusters', 'Clusters')}
          {link('/jobs', 'Jobs')}
          {link('/schedules', 'Schedules')}
          {link('/spend', 'Spend')}
          {link('/approvals', 'Approvals')}
          {link('/notifications', 'Notifications')}
          {link('/workspace', 'Workspace')}
          {isAdmin(session) && link('/clouds', 'Clouds')}
        </nav>
        <p class="who">
          <span>
            {session.who.user} in {session.who.workspace}
          </span>
          <button class="quiet" onClick={onSignOut}>
            Sign out
          </button>
        </p>
      </header>
      <main id="main">
        <Page key={count} session={session} path={path} />
      </main>
    </>
  );
}

function Page({ session, path }: { session: Session; path: string }) {
  const [, ofDashboard] = /^\/clusters\/(\d+)\/dashboard$/.exec(path) ?? [];
  if (ofDashboard !== undefined) return <DashboardPage session={session} number={Number(ofDashboard)} />;
  if (!isPage(path)) return <NoSuchPage />;
  const [, kind = 'clusters', name] = /^\/([a-z]+)?(?:\/(.+))?$/.exec(path) ?? [];
  if (kind === 'spend') return <SpendPage session={session} />;
  if (kind === 'approvals') return <ApprovalsPage session={session} />;
  if (kind === 'notifications') return <NotificationsPage session={session} />;
  if (kind === 'clouds') return <CloudsPage session={session} />;
  if (kind === 'schedules') {
    return name === undefined ? <SchedulesPage session={session} /> : <SchedulePage {...{ session, name }} />;
  }
  if (kind === 'workspace') return <WorkspacePage session={session} />;
  if (kind === 'jobs') {
    return name === undefined ? <JobsPage session={session} /> : <JobPage session={session} number={Number(name)} />;
  }
  if (name !== undefined) return <ClusterPage session={session} number={Number(name)} />;
  return <ClustersPage session={session} />;
}
