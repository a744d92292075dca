// Jobs and clusters that wait for the approval of an admin, and past decisions.
import { useCallback, useState } from 'preact/hooks';

import type { Approval, ApprovalPage, ApprovalRule, PutApprovalRule } from '../../schema/approvals.ts';
import { Check, Form, NumberField, Opener, type Values } from '../forms.tsx';
import { dollars, time } from '../format.ts';
import { Act, Facts, State, Table, Title } from '../parts.tsx';
import { useReading } from '../read.ts';
import { call, isAdmin, type Session } from '../session.ts';

export function ApprovalsPage({ session }: { session: Session }) {
  const read = useCallback(
    () =>
      Promise.all([
        call<ApprovalPage>(session, 'GET', '/v1/approvals'),
        call<ApprovalRule>(session, 'GET', '/v1/workspace/approval'),
      ]),
    [session],
  );
  const { value, problem, again } = useReading(read);
  if (value === null) return <Title text="Approvals">{problem !== '' && <p role="alert">{problem}</p>}</Title>;
  const [{ items }, rule] = value;
  const decide = async (number: number, verb: 'approve' | 'reject'): Promise<void> => {
    await call(session, 'POST', `/v1/approvals/${number}/${verb}`, {}).finally(again);
  };
  return (
    <>
      <Title text="Approvals" />
      {problem !== '' && <p role="alert">{problem}</p>}
      <Rule {...{ session, rule, again }} />
      {items.length === 0 ? (
        <p class="empty">Nothing has needed an approval.</p>
      ) : (
        <Table
          caption="Jobs and clusters that need an approval"
          columns={['Name', 'User', 'Per hour', 'Total', 'Why', 'State', 'Decision']}
          keys={items.map(({ number }) => number)}
          rows={items.map((each) => [
            <a href={`/${each.kind}s/${each.number}`}>{each.name}</a>,
            each.user,
            each.dollarsPerHour === null ? 'unknown' : dollars(each.dollarsPerHour),
            each.dollars === null ? 'no limit' : dollars(each.dollars),
            each.why,
            <State state={each.state} />,
            each.state === 'pending' && isAdmin(session) ? (
              <span class="actions">
                <span>{decisionOf(each)}</span>
                <Act
                  text="Approve"
                  ask={`Approve ${each.kind} ${each.number}?`}
                  onAct={() => decide(each.number, 'approve')}
                />
                <Act
                  text="Reject"
                  ask={`End ${each.kind} ${each.number}?`}
                  onAct={() => decide(each.number, 'reject')}
                />
              </span>
            ) : (
              decisionOf(each)
            ),
          ])}
        />
      )}
    </>
  );
}

function Rule({ session, rule, again }: { session: Session; rule: ApprovalRule; again: () => Promise<void> }) {
  const [isOpen, setOpen] = useState(false);
  const put = (values: Values) => call(session, 'PUT', '/v1/workspace/approval', bodyOf(values)).finally(again);
  return (
    <>
      <Facts facts={factsOf(rule)} />
      {isOpen && (
        <Form title="What needs an approval" send="Save" onSend={put} onClose={() => setOpen(false)}>
          <NumberField label="Above, dollars an hour" name="perHour" {...amount(rule.dollarsPerHour)} />
          <NumberField label="Above, dollars in total" name="total" {...amount(rule.dollars)} />
          <NumberField
            label="Ends after, in minutes"
            name="minutes"
            required
            {...{ min: 1, max: 43_200, value: Math.ceil((rule.timeoutSeconds ?? usualTimeoutSeconds) / 60) }}
          />
          <Check label="Admins may approve what they created" name="allowOwn" isChecked={rule.allowOwn} />
        </Form>
      )}
      {isAdmin(session) && (
        <div class="actions">
          <Opener text="Change the rule" isOpen={isOpen} onChange={setOpen} />
        </div>
      )}
    </>
  );
}

const usualTimeoutSeconds = 86_400;

const amount = (value: number | null) => ({
  ...{ min: 0, max: 1_000_000_000, step: 0.01, placeholder: 'not limited' },
  ...(value === null ? {} : { value }),
});

/** Without both amounts, nothing needs an approval. */
const bodyOf = (values: Values): PutApprovalRule => ({
  dollarsPerHour: values.number('perHour') ?? null,
  dollars: values.number('total') ?? null,
  allowOwn: values.isChecked('allowOwn'),
  timeout: `${values.number('minutes') ?? usualTimeoutSeconds / 60}m`,
});

const factsOf = ({ dollarsPerHour, dollars: total, allowOwn, timeoutSeconds }: ApprovalRule): [string, string][] =>
  timeoutSeconds === null
    ? [['Needs an approval', 'nothing']]
    : [
        ['Approval above, per hour', dollarsPerHour === null ? 'not limited' : dollars(dollarsPerHour)],
        ['Approval above, in total', total === null ? 'not limited' : dollars(total)],
        ['Ends after', `${Math.round(timeoutSeconds / 360) / 10} h`],
        ['Own requests', allowOwn ? 'allowed' : 'another admin decides'],
      ];

function decisionOf({ state, decidedBy, decidedAt, comment, expiresAt }: Approval): string {
  if (state === 'pending') return `until ${time(expiresAt)}`;
  const by = decidedBy === null ? '' : ` by ${decidedBy}`;
  return `${decidedAt === null ? '' : time(decidedAt)}${by}${comment === null ? '' : `: ${comment}`}`;
}
