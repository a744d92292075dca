// Budgets, with the used amounts. An admin makes, changes and removes them.
import { useCallback, useState } from 'preact/hooks';

import type { Budget, BudgetList, PutBudget } from '../../schema/budgets.ts';
import { Choice, Field, Form, NumberField, Opener, type Values } from '../forms.tsx';
import { dollars } from '../format.ts';
import { Act, Share, State, Table } from '../parts.tsx';
import { useReading } from '../read.ts';
import { call, isAdmin, type Session } from '../session.ts';
import { Section } from './section.tsx';

const periods = ['month', 'day', 'run'] as const;
const actions = [
  { value: 'warn', text: 'warn only' },
  { value: 'refuse', text: 'refuse new launches' },
  { value: 'stop', text: 'stop everything of it' },
] as const;
const kinds = ['workspace', 'user', 'cluster', 'job'] as const;
/** As the API has it. */
const usualWarning = 80;

export function Budgets({ session }: { session: Session }) {
  const read = useCallback(() => call<BudgetList>(session, 'GET', '/v1/budgets'), [session]);
  const { value, problem, again } = useReading(read);
  const [form, setForm] = useState<'new' | Budget | null>(null);
  if (value === null) return problem === '' ? null : <p role="alert">{problem}</p>;
  const { items } = value;
  const put = (name: string, values: Values) => call(session, 'PUT', pathOf(name), bodyOf(values)).finally(again);
  const make = async (values: Values): Promise<void> => {
    const name = values.text('name');
    // The same request would replace it.
    if (items.some((each) => each.name === name)) throw new Error(`There is a budget ${name}: change it in the list.`);
    await put(name, values);
  };
  const actionsOf = (budget: Budget) => (
    <span class="actions">
      <button class="small" aria-label={`Change ${budget.name}`} onClick={() => setForm(budget)}>
        Change
      </button>
      <Act
        text="Remove"
        of={budget.name}
        ask={`Remove the budget ${budget.name}? It limits nothing from then on.`}
        onAct={() => call(session, 'DELETE', pathOf(budget.name)).finally(again)}
      />
    </span>
  );
  const mayChange = isAdmin(session);
  const above = form !== null && (
    <Form
      key={form === 'new' ? '' : form.name}
      title={form === 'new' ? 'Make a budget' : `Change ${form.name}`}
      send={form === 'new' ? 'Make' : 'Save'}
      onSend={(values) => (form === 'new' ? make(values) : put(form.name, values))}
      onClose={() => setForm(null)}
    >
      {form === 'new' && <Field label="Name" name="name" required maxLength={100} placeholder="team-ml" />}
      <BudgetFields budget={form === 'new' ? null : form} />
    </Form>
  );
  return (
    <Section
      title="Budgets"
      isEmpty={items.length === 0}
      empty="Nothing limits what is spent: there is no budget."
      above={above}
      action={
        mayChange && (
          <Opener text="Make a budget" isOpen={form === 'new'} onChange={(isOpen) => setForm(isOpen ? 'new' : null)} />
        )
      }
    >
      {problem !== '' && <p role="alert">{problem}</p>}
      <Table
        caption="Budgets"
        columns={['Budget', 'Of', 'Per', 'Spent', 'Limit', 'Then', 'State', ...(mayChange ? ['Actions'] : [])]}
        keys={items.map(({ name }) => name)}
        rows={items.map((each) => [
          ...[each.name, subjectOf(each), each.period],
          <Share of={each.dollars} used={each.spentDollars} text={dollars(each.spentDollars)} />,
          ...[dollars(each.dollars), each.action, <State state={each.level} />],
          ...(mayChange ? [actionsOf(each)] : []),
        ])}
      />
    </Section>
  );
}

function BudgetFields({ budget }: { budget: Budget | null }) {
  const [kind, setKind] = useState<string>(budget === null ? 'workspace' : kindOf(budget));
  const subject = budget?.user ?? budget?.cluster ?? budget?.job ?? undefined;
  const present = subject === undefined || budget === null || kind !== kindOf(budget) ? {} : { value: subject };
  return (
    <>
      <NumberField
        label="Dollars"
        name="dollars"
        required
        {...{ min: 0.01, max: 1_000_000_000, step: 0.01 }}
        {...(budget === null ? {} : { value: budget.dollars })}
      />
      <Choice label="Per" name="period" value={budget?.period ?? 'month'} choices={periods} />
      <label>
        Of
        <select name="kind" onChange={(event) => setKind(event.currentTarget.value)}>
          {kinds.map((each) => (
            <option key={each} selected={each === kind}>
              {each}
            </option>
          ))}
        </select>
      </label>
      {kind === 'user' && <Field label="User" name="subject" required {...present} />}
      {(kind === 'cluster' || kind === 'job') && (
        <NumberField
          key={kind}
          label={`Number of the ${kind}`}
          name="subject"
          required
          {...{ min: 1, max: 999_999_999_999, ...present }}
        />
      )}
      <NumberField
        label="Warn at percent"
        name="warnAt"
        required
        {...{ min: 1, max: 100, value: budget?.warnAtPercent ?? usualWarning }}
      />
      <Choice label="When it is used up" name="action" value={budget?.action ?? 'refuse'} choices={actions} />
    </>
  );
}

function bodyOf(values: Values): PutBudget {
  const [kind, subject] = [values.text('kind'), values.text('subject')];
  return {
    dollars: values.number('dollars') ?? 0,
    warnAtPercent: values.number('warnAt') ?? usualWarning,
    period: periods.find((each) => each === values.text('period')) ?? 'month',
    action: actions.find((each) => each.value === values.text('action'))?.value ?? 'refuse',
    ...(kind === 'user' ? { user: subject } : {}),
    ...(kind === 'cluster' ? { cluster: Number(subject) } : {}),
    ...(kind === 'job' ? { job: Number(subject) } : {}),
  };
}

const pathOf = (name: string): string => `/v1/budgets/${encodeURIComponent(name)}`;

function kindOf({ user, cluster, job }: Budget): string {
  if (user !== null) return 'user';
  if (cluster !== null) return 'cluster';
  return job === null ? 'workspace' : 'job';
}

const subjectOf = (budget: Budget): string =>
  `${kindOf(budget)} ${budget.user ?? budget.cluster ?? budget.job ?? ''}`.trim();
