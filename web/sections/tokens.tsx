// API tokens: one's own, and all of the workspace for an admin. A user who may read may make tokens that may read.
import { useState } from 'preact/hooks';

import type { CreatedToken, CreateToken, Token, User } from '../../schema/people.ts';
import { Check, Choice, Field, Form, Opener, Secret, type Values } from '../forms.tsx';
import { time } from '../format.ts';
import { Act, State, Table } from '../parts.tsx';
import { call, isAdmin, type Session } from '../session.ts';
import { Section } from './section.tsx';

const days = [7, 30, 90, 365];
const usualDays = 30;
const dayMs = 86_400_000;
const scopes = ['read', 'write', 'admin', 'operator'] as const;

interface Props {
  session: Session;
  tokens: Token[];
  users: User[];
  again: () => Promise<void>;
}

export function Tokens({ session, tokens, users, again }: Props) {
  const [isOpen, setOpen] = useState(false);
  const [made, setMade] = useState<CreatedToken | null>(null);
  const [isAll, setAll] = useState(false);
  const { who } = session;
  const make = async (values: Values): Promise<void> => {
    const lasts = values.text('expires');
    const body: CreateToken = {
      name: values.text('name'),
      scopes: scopes.filter((each) => values.isChecked(each)),
      ...(lasts === '' ? {} : { expires: lasts }),
      ...(values.text('user') === '' ? {} : { user: values.text('user') }),
    };
    if (body.scopes?.length === 0) throw new Error('Choose at least one scope.');
    setMade(await call<CreatedToken>(session, 'POST', '/v1/tokens', body).finally(again));
  };
  const rowOf = (token: Token) => {
    const state = stateOf(token);
    const isThis = token.id === who.tokenId;
    const name = token.name === '' ? token.id : token.name;
    return [
      isThis ? `${name} (of this page)` : name,
      ...[token.user, token.scopes.join(' '), token.expiresAt === null ? 'never' : time(token.expiresAt)],
      <State state={state} />,
      state === 'valid' && (
        <Act
          text="Revoke"
          of={name}
          ask={isThis ? 'Revoke the token of this page, and sign out?' : `Revoke ${name} of ${token.user}?`}
          onAct={() => call(session, 'POST', `/v1/tokens/${token.id}/revoke`).finally(again)}
        />
      ),
    ];
  };
  const shown = tokens.filter((token) => isAll || stateOf(token) === 'valid');
  const ended = tokens.filter((token) => stateOf(token) !== 'valid').length;
  const above = (
    <>
      {isOpen && (
        <Form title="Make a token" send="Make" onSend={make} onClose={() => setOpen(false)}>
          <Field label="What it is for" name="name" required maxLength={100} placeholder="laptop" />
          {isAdmin(session) && (
            <Choice label="Of" name="user" value={who.user} choices={users.map(({ name }) => name)} />
          )}
          <Choice label="Expires after" name="expires" {...expiries(session)} />
          <fieldset>
            <legend>It may</legend>
            {scopes
              .filter((scope) => who.scopes.includes(scope))
              .map((scope) => (
                <Check key={scope} name={scope} label={scope} isChecked={scope === 'read' || scope === 'write'} />
              ))}
          </fieldset>
        </Form>
      )}
      {made !== null && (
        <Secret what={`The new token of ${made.user}.`} text={made.token} onClose={() => setMade(null)} />
      )}
    </>
  );
  return (
    <Section title="Tokens" above={above} action={<Opener text="Make a token" isOpen={isOpen} onChange={setOpen} />}>
      <Table
        caption="Tokens"
        columns={['Token', 'User', 'Scopes', 'Expires', 'State', 'Actions']}
        rows={shown.map(rowOf)}
        keys={shown.map(({ id }) => id)}
      />
      {ended > 0 && (
        <label class="check">
          <input type="checkbox" checked={isAll} onChange={(event) => setAll(event.currentTarget.checked)} />
          also {ended} that were revoked or have expired
        </label>
      )}
    </Section>
  );
}

export function stateOf({ revokedAt, expiresAt }: Token, nowMs = Date.now()): 'valid' | 'revoked' | 'expired' {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && Date.parse(expiresAt) <= nowMs ? 'expired' : 'valid';
}

/** No token outlives the one that makes it. */
function expiries({ who }: Session) {
  const leftMs = who.expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(who.expiresAt) - Date.now();
  const possible = days.filter((each) => each * dayMs < leftMs).map((each) => `${each} days`);
  const last = who.expiresAt === null ? 'never' : `as this sign-in, ${time(who.expiresAt)}`;
  const choices = [...possible, { value: '', text: last }];
  const usual = `${usualDays} days`;
  return { choices, value: possible.includes(usual) ? usual : '' };
}
