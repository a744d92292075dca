// The workspace: limits and who uses how much of them, people and tokens, software environments, webhooks, and who changed what.
import { useCallback, useState } from 'preact/hooks';

import type { EnvironmentPage } from '../../schema/environments.ts';
import type { TokenList, UserList, WorkspaceInfo } from '../../schema/people.ts';
import type { WebhookList } from '../../schema/webhooks.ts';
import { Form, Opener } from '../forms.tsx';
import { Facts, Table, Title, When } from '../parts.tsx';
import { useReading } from '../read.ts';
import { Environments } from '../sections/environments.tsx';
import { Limits, limitsOf, People } from '../sections/people.tsx';
import { Section } from '../sections/section.tsx';
import { Tokens } from '../sections/tokens.tsx';
import { Webhooks } from '../sections/webhooks.tsx';
import { call, isAdmin, type Session } from '../session.ts';

export function WorkspacePage({ session }: { session: Session }) {
  const read = useCallback(async () => {
    const get = <T,>(path: string) => call<T>(session, 'GET', path);
    const [workspace, users, tokens, environments, webhooks] = await Promise.all([
      get<WorkspaceInfo>('/v1/workspace'),
      get<UserList>('/v1/users'),
      get<TokenList>('/v1/tokens'),
      get<EnvironmentPage>('/v1/environments?limit=1000'),
      get<WebhookList>('/v1/webhooks'),
    ]);
    return { workspace, users, tokens, environments, webhooks };
  }, [session]);
  const { value, problem, again } = useReading(read);
  if (value === null) return <Title text="Workspace">{problem !== '' && <p role="alert">{problem}</p>}</Title>;
  const { workspace, users, tokens, environments, webhooks } = value;
  const shared = { session, again, users: users.items };
  return (
    <>
      <Title text={`Workspace ${workspace.slug}`} />
      {problem !== '' && <p role="alert">{problem}</p>}
      <WorkspaceLimits {...{ session, workspace, again }} />
      <People {...shared} workspace={workspace} />
      <Tokens {...shared} tokens={tokens.items} />
      <Environments {...shared} environments={environments.items} />
      <Webhooks {...shared} webhooks={webhooks.items} />
      {workspace.events.length > 0 && (
        <Section title="Changes">
          <Table
            caption="Changes of people, limits and budgets, newest first"
            columns={['When', 'What', 'By', 'Text']}
            rows={workspace.events
              .toReversed()
              .map(({ at, code, by, text }) => [<When at={at} />, code, by ?? 'the operator', text])}
          />
        </Section>
      )}
    </>
  );
}

function WorkspaceLimits(props: { session: Session; workspace: WorkspaceInfo; again: () => Promise<void> }) {
  const { session, workspace, again } = props;
  const [isOpen, setOpen] = useState(false);
  const { use, limits } = workspace;
  return (
    <>
      <Facts
        facts={[
          ['Open jobs and clusters', `${use.running} of ${limits.running}`],
          ['Instances', `${use.instances} of ${limits.instances}`],
          ['vCPUs', `${use.vcpus} of ${limits.vcpus}`],
        ]}
      />
      {isOpen && (
        <Form
          title="Limits of the workspace"
          send="Save"
          onSend={(values) => call(session, 'PUT', '/v1/workspace/limits', limitsOf(values)).finally(again)}
          onClose={() => setOpen(false)}
        >
          <Limits limits={limits} required />
        </Form>
      )}
      {isAdmin(session) && (
        <div class="actions">
          <Opener text="Change the limits" isOpen={isOpen} onChange={setOpen} />
        </div>
      )}
    </>
  );
}
