// Users of the workspace: roles, limits and usage. An admin adds, changes and removes them.
import { useState } from 'preact/hooks';

import type { CreatedToken, ChangedLimits, CreateToken, PutUser, User, WorkspaceInfo } from '../../schema/people.ts';
import { Check, Choice, Field, Form, NumberField, Opener, Secret, type Values } from '../forms.tsx';
import { Act, Table } from '../parts.tsx';
import { call, isAdmin, type Session } from '../session.ts';
import { Section } from './section.tsx';

const roles = ['admin', 'member', 'read-only'];
const firstTokenLasts = '30 days';
/** An admin's token includes all of them. */
const scopesOf = {
  admin: ['read', 'write', 'admin'],
  member: ['read', 'write'],
  'read-only': ['read'],
} as const satisfies Record<User['role'], CreateToken['scopes']>;

interface Props {
  session: Session;
  users: User[];
  workspace: WorkspaceInfo;
  again: () => Promise<void>;
}

export function People({ session, users, workspace, again }: Props) {
  const [form, setForm] = useState<'new' | User | null>(null);
  const [made, setMade] = useState<CreatedToken | null>(null);
  const useOf = new Map(workspace.users.map((each) => [each.name, each.use]));
  const put = (name: string, body: PutUser) => call(session, 'PUT', pathOf(name), body).finally(again);
  const add = async (values: Values): Promise<void> => {
    const name = values.text('name');
    // The same request would change their role.
    if (users.some((each) => each.name === name))
      throw new Error(`${name} is here already: change their role in the list.`);
    await put(name, { role: roleOf(values) });
    if (!values.isChecked('token')) return;
    const body = { user: name, name: 'first token', expires: firstTokenLasts, scopes: scopesOf[roleOf(values)] };
    setMade(await call<CreatedToken>(session, 'POST', '/v1/tokens', body).finally(again));
  };
  const rowOf = ({ name, role, limits: own }: User) => {
    const used = useOf.get(name) ?? { running: 0, instances: 0, vcpus: 0 };
    const allowed = { ...workspace.perUser, ...own };
    const of = (what: keyof typeof used): string =>
      allowed[what] === undefined ? String(used[what]) : `${used[what]} of ${allowed[what]}`;
    return [name, role, of('running'), of('instances'), of('vcpus')];
  };
  const actionsOf = (user: User) => (
    <span class="actions">
      <button class="small" aria-label={`Change ${user.name}`} onClick={() => setForm(user)}>
        Change
      </button>
      <Act
        text="Remove"
        of={user.name}
        ask={`Remove ${user.name}, and end their tokens? What they started goes on.`}
        onAct={() => call(session, 'DELETE', pathOf(user.name)).finally(again)}
      />
    </span>
  );
  const above = (
    <>
      {form === 'new' && (
        <Form title="Add a person" send="Add" onSend={add} onClose={() => setForm(null)}>
          <Field label="Name, or the e-mail address they sign in with" name="name" required maxLength={100} />
          <Choice label="Role" name="role" value="member" choices={roles} />
          <Check label={`Make a token for them, for ${firstTokenLasts}`} name="token" />
        </Form>
      )}
      {form !== null && form !== 'new' && (
        <Form
          key={form.name}
          title={`Change ${form.name}`}
          send="Save"
          onSend={(values) => put(form.name, { ...changedRoleOf(values, form), limits: ownLimitsOf(values) })}
          onClose={() => setForm(null)}
        >
          <Choice label="Role" name="role" value={form.role} choices={roles} />
          <Limits limits={form.limits} placeholder="as others" />
        </Form>
      )}
      {made !== null && <Secret what={`The token of ${made.user}.`} text={made.token} onClose={() => setMade(null)} />}
    </>
  );
  const mayChange = isAdmin(session);
  return (
    <Section
      title="People"
      above={above}
      action={
        mayChange && (
          <Opener text="Add a person" isOpen={form === 'new'} onChange={(isOpen) => setForm(isOpen ? 'new' : null)} />
        )
      }
    >
      <Table
        caption="People"
        columns={['User', 'Role', 'Open', 'Instances', 'vCPUs', ...(mayChange ? ['Actions'] : [])]}
        keys={users.map(({ name }) => name)}
        rows={users.map((user) => [...rowOf(user), ...(mayChange ? [actionsOf(user)] : [])])}
      />
    </Section>
  );
}

const pathOf = (name: string): string => `/v1/users/${encodeURIComponent(name)}`;

const roleOf = (values: Values): User['role'] => {
  const role = values.text('role');
  return role === 'admin' || role === 'read-only' ? role : 'member';
};

/** Only a role that was changed in the form: another admin may have changed it since the form was opened. */
const changedRoleOf = (values: Values, { role }: User): Pick<PutUser, 'role'> =>
  roleOf(values) === role ? {} : { role: roleOf(values) };

const kinds = [
  { name: 'running', label: 'Open jobs and clusters' },
  { name: 'instances', label: 'Instances' },
  { name: 'vcpus', label: 'vCPUs' },
] as const;

interface LimitsProps {
  limits: User['limits'];
  placeholder?: string;
  required?: boolean;
}

export const Limits = ({ limits, placeholder = '', required = false }: LimitsProps) => (
  <>
    {kinds.map(({ name, label }) => (
      <NumberField
        key={name}
        {...{ name, placeholder, required }}
        label={`At most: ${label}`}
        {...valueOf(limits[name])}
        min={0}
        max={1_000_000}
      />
    ))}
  </>
);

const valueOf = (value: number | undefined) => (value === undefined ? {} : { value });

/** An empty field is undefined: the API then keeps the limit. */
export const limitsOf = ({ number }: Values) => ({
  running: number('running'),
  instances: number('instances'),
  vcpus: number('vcpus'),
});

/** An empty field removes the user's own limit. */
function ownLimitsOf(values: Values): ChangedLimits {
  const { running = null, instances = null, vcpus = null } = limitsOf(values);
  return { running, instances, vcpus };
}
