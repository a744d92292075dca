// Pending and decided approvals of an admin.
import { useCallback } from 'preact/hooks';

import type { Approval, ApprovalPage, ApprovalRule } from '../../schema/approvals.ts';
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
      <Facts facts={factsOf(rule)} />
      {items.length === 0 ? (
        <p class="empty">Nothing has needed an approval.</p>
      ) : (
        <Table
          caption="Jobs and clusters that need an approval"
          columns={['Name', 'User', 'Per hour', 'Total', 'Why', 'State', 'Decision']}
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
