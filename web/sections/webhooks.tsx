// Webhooks, with what each has got. An admin makes, tests and deletes them.
import { useCallback, useState } from 'preact/hooks';

import type { CreatedWebhook, CreateWebhook, DeliveryPage, Webhook } from '../../schema/webhooks.ts';
import { Check, Choice, Field, Form, Opener, Secret, type Values } from '../forms.tsx';
import { Act, State, Table, When } from '../parts.tsx';
import { useReading } from '../read.ts';
import { call, isAdmin, type Session } from '../session.ts';
import { Section } from './section.tsx';

const nouns = ['job', 'cluster', 'budget', 'approval', 'schedule'] as const;
const formats = [
  { value: '', text: 'JSON, signed (Standard Webhooks)' },
  { value: 'slack', text: 'Slack' },
] as const;

interface Props {
  session: Session;
  webhooks: Webhook[];
  again: () => Promise<void>;
}

export function Webhooks({ session, webhooks, again }: Props) {
  const [isOpen, setOpen] = useState(false);
  const [made, setMade] = useState<CreatedWebhook | null>(null);
  const [seen, setSeen] = useState<string | null>(null);
  const mayChange = isAdmin(session);
  const make = async (values: Values): Promise<void> => {
    setMade(await call<CreatedWebhook>(session, 'POST', '/v1/webhooks', bodyOf(values)).finally(again));
  };
  const test = async (id: string): Promise<void> => {
    await call(session, 'POST', `/v1/webhooks/${id}/test`);
    setSeen(id);
  };
  const actionsOf = ({ id, origin }: Webhook) => (
    <span class="actions">
      <Act text="Test" of={origin} ask={`Send a test to ${origin}?`} onAct={() => test(id)} />
      <Act
        text="Delete"
        of={origin}
        ask={`Delete the webhook to ${origin}, with what it has not got yet?`}
        onAct={() => call(session, 'DELETE', `/v1/webhooks/${id}`).finally(again)}
      />
    </span>
  );
  const above = (
    <>
      {isOpen && (
        <Form title="Make a webhook" send="Make" onSend={make} onClose={() => setOpen(false)}>
          <Field
            label="URL, or mailto: and an address"
            name="url"
            required
            maxLength={2_000}
            placeholder="https://example.com/hooks"
          />
          <Choice label="Form" name="format" choices={formats} />
          <Field label="Only about (empty: everything)" name="object" placeholder="job/12" maxLength={30} />
          <Field label="Description" name="description" maxLength={200} />
          <fieldset>
            <legend>Of events of (none: all)</legend>
            {nouns.map((noun) => (
              <Check key={noun} name={noun} label={`${noun}s`} />
            ))}
          </fieldset>
          <Check name="mayApprove" label="Its receiver may approve and reject" />
        </Form>
      )}
      {made !== null && made.format !== 'email' && (
        <Secret
          what={`The secret of the webhook to ${made.origin}: receivers check signatures with it.`}
          text={made.secret}
          onClose={() => setMade(null)}
        />
      )}
    </>
  );
  const action = mayChange && <Opener text="Make a webhook" isOpen={isOpen} onChange={setOpen} />;
  return (
    <Section
      title="Webhooks"
      isEmpty={webhooks.length === 0}
      empty="No receiver is notified: there is no webhook, and no e-mail address."
      {...{ action, above }}
    >
      <Table
        caption="Webhooks"
        columns={['To', 'Events', 'About', 'By', 'State', 'Got', ...(mayChange ? ['Actions'] : [])]}
        keys={webhooks.map(({ id }) => id)}
        rows={webhooks.map((each) => [
          <span class="used">
            {each.origin}
            {each.description !== '' && <span class="muted below">{each.description}</span>}
          </span>,
          ...[each.events.join(' '), each.object ?? 'all', each.user],
          <State state={each.disabledAt === null ? 'enabled' : 'disabled'} />,
          <button
            class="small"
            aria-expanded={seen === each.id}
            aria-label={`Deliveries to ${each.origin}`}
            onClick={() => setSeen(seen === each.id ? null : each.id)}
          >
            Deliveries
          </button>,
          ...(mayChange ? [actionsOf(each)] : []),
        ])}
      />
      {seen !== null && webhooks.some(({ id }) => id === seen) && (
        <Deliveries key={seen} session={session} webhook={seen} />
      )}
    </Section>
  );
}

function Deliveries({ session, webhook }: { session: Session; webhook: string }) {
  const read = useCallback(
    () => call<DeliveryPage>(session, 'GET', `/v1/webhook-deliveries?webhook=${webhook}&limit=20`),
    [session, webhook],
  );
  const { value, problem } = useReading(read);
  if (value === null) return problem === '' ? null : <p role="alert">{problem}</p>;
  if (value.items.length === 0) return <p class="empty">It has got nothing yet.</p>;
  return (
    <Table
      caption="Newest deliveries"
      columns={['When', 'Type', 'About', 'State', 'Attempts', 'Answer', 'Next attempt']}
      rows={value.items.map((each) => [
        ...[<When at={each.at} />, each.type, each.object, <State state={each.state} />, each.attempts],
        ...[each.error ?? each.status ?? '', <When at={each.nextAttemptAt} />],
      ])}
    />
  );
}

function bodyOf(values: Values): CreateWebhook {
  const events = nouns.filter((noun) => values.isChecked(noun)).map((noun) => `${noun}.*`);
  const object = values.text('object');
  return {
    url: values.text('url'),
    description: values.text('description'),
    mayApprove: values.isChecked('mayApprove'),
    ...(events.length === 0 ? {} : { events }),
    ...(object === '' ? {} : { object }),
    ...(values.text('format') === 'slack' ? { format: 'slack' } : {}),
  };
}
