// The workspace: limits and each user's usage, users and tokens, budgets, software environments, webhooks.
import type { ComponentChildren } from 'preact';
import { useCallback } from 'preact/hooks';

import type { BudgetList } from '../../schema/budgets.ts';
import type { EnvironmentPage } from '../../schema/environments.ts';
import type { TokenList, UserList, WorkspaceInfo } from '../../schema/people.ts';
import type { WebhookList } from '../../schema/webhooks.ts';
import { dollars, time } from '../format.ts';
import { Facts, State, Table, Title } from '../parts.tsx';
import { useReading } from '../read.ts';
import { call, type Session } from '../session.ts';

export function WorkspacePage({ session }: { session: Session }) {
  const read = useCallback(async () => {
    const get = <T,>(path: string) => call<T>(session, 'GET', path);
    const [workspace, users, tokens, budgets, environments, webhooks] = await Promise.all([
      get<WorkspaceInfo>('/v1/workspace'),
      get<UserList>('/v1/users'),
      get<TokenList>('/v1/tokens'),
      get<BudgetList>('/v1/budgets'),
      get<EnvironmentPage>('/v1/environments'),
      get<WebhookList>('/v1/webhooks'),
    ]);
    return { workspace, users, tokens, budgets, environments, webhooks };
  }, [session]);
  const { value, problem } = useReading(read);
  if (value === null) return <Title text="Workspace">{problem !== '' && <p role="alert">{problem}</p>}</Title>;
  const { workspace, users, tokens, budgets, environments, webhooks } = value;
  const { use, limits } = workspace;
  const useOf = new Map(workspace.users.map((each) => [each.name, each.use]));
  return (
    <>
      <Title text={`Workspace ${workspace.slug}`} />
      {problem !== '' && <p role="alert">{problem}</p>}
      <Facts
        facts={[
          ['Open jobs and clusters', `${use.running} of ${limits.running}`],
          ['Instances', `${use.instances} of ${limits.instances}`],
          ['vCPUs', `${use.vcpus} of ${limits.vcpus}`],
        ]}
      />
      <h2>People</h2>
      <Table
        caption="People"
        columns={['User', 'Role', 'Open', 'Instances', 'vCPUs']}
        rows={users.items.map(({ name, role, limits: own }) => {
          const used = useOf.get(name) ?? { running: 0, instances: 0, vcpus: 0 };
          const allowed = { ...workspace.perUser, ...own };
          const of = (what: keyof typeof used): string =>
            allowed[what] === undefined ? String(used[what]) : `${used[what]} of ${allowed[what]}`;
          return [name, role, of('running'), of('instances'), of('vcpus')];
        })}
      />
      <Section title="Budgets" empty="No budget." count={budgets.items.length}>
        <Table
          caption="Budgets"
          columns={['Budget', 'Of', 'Per', 'Spent', 'Limit', 'Then', 'State']}
          rows={budgets.items.map((each) => [
            ...[each.name, subjectOf(each), each.period, dollars(each.spentDollars), dollars(each.dollars)],
            ...[each.action, <State state={each.level} />],
          ])}
        />
      </Section>
      <Section title="Tokens" empty="No token." count={tokens.items.length}>
        <Table
          caption="Tokens"
          columns={['Token', 'User', 'Scopes', 'Expires', 'State']}
          rows={tokens.items.map((each) => [
            ...[each.name === '' ? each.id : each.name, each.user, each.scopes.join(' ')],
            each.expiresAt === null ? 'never' : time(each.expiresAt),
            <State state={each.revokedAt === null ? 'valid' : 'revoked'} />,
          ])}
        />
      </Section>
      <Section title="Software environments" empty="No environment." count={environments.items.length}>
        <Table
          caption="Software environments"
          columns={['Name', 'Version', 'Content', 'By', 'Changed']}
          rows={environments.items.map((each) => [
            ...[each.name, each.version, each.summary, each.user, time(each.updatedAt)],
          ])}
        />
      </Section>
      <Section title="Webhooks" empty="No webhook." count={webhooks.items.length}>
        <Table
          caption="Webhooks"
          columns={['To', 'Events', 'About', 'By', 'State']}
          rows={webhooks.items.map((each) => [
            ...[each.origin, each.events.join(' '), each.object ?? 'all', each.user],
            <State state={each.disabledAt === null ? 'enabled' : 'disabled'} />,
          ])}
        />
      </Section>
    </>
  );
}

function Section({
  title,
  empty,
  count,
  children,
}: {
  title: string;
  empty: string;
  count: number;
  children: ComponentChildren;
}) {
  return (
    <>
      <h2>{title}</h2>
      {count === 0 ? <p class="empty">{empty}</p> : children}
    </>
  );
}

function subjectOf({ user, cluster, job }: BudgetList['items'][number]): string {
  if (user !== null) return `user ${user}`;
  if (cluster !== null) return `cluster ${cluster}`;
  return job === null ? 'workspace' : `job ${job}`;
}
