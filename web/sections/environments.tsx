// Named software environments: users who may write point a name to packages or to a container, and delete one.
import { useState } from 'preact/hooks';

import type { EnvironmentPage, NamedEnvironment, PutEnvironment } from '../../schema/environments.ts';
import { Field, Form, Lines, Opener, type Values } from '../forms.tsx';
import { time } from '../format.ts';
import { Act, Table } from '../parts.tsx';
import { call, mayWrite, type Session } from '../session.ts';
import { Section } from './section.tsx';

interface Replaced {
  name: string;
  version: number;
}

interface Props {
  session: Session;
  environments: NamedEnvironment[];
  again: () => Promise<void>;
}

export function Environments({ session, environments, again }: Props) {
  const [isOpen, setOpen] = useState(false);
  /** The version that the next request with this name replaces: the user has seen the question about it. */
  const [asked, setAsked] = useState<Replaced | null>(null);
  const open = (next: boolean): void => {
    setOpen(next);
    setAsked(null);
  };
  const mayChange = mayWrite(session);
  const set = async (values: Values): Promise<void> => {
    const name = values.text('name');
    const { items } = await call<EnvironmentPage>(session, 'GET', '/v1/environments?limit=1000');
    const present = items.find((each) => each.name === name);
    if (present !== undefined && (asked?.name !== name || asked.version !== present.version)) {
      setAsked({ name, version: present.version });
      throw new Error(
        `The name ${name} exists, with ${present.summary} by ${present.user}. Replace it, or write another name. What uses it keeps its software.`,
      );
    }
    await call(session, 'PUT', pathOf(name), contentOf(values)).finally(again);
  };
  return (
    <Section
      title="Software environments"
      isEmpty={environments.length === 0}
      empty="No environment has a name. Clusters and jobs bring their own software."
      action={mayChange && <Opener text="Name an environment" isOpen={isOpen} onChange={open} />}
      above={
        isOpen && (
          // A changed form is another request: its name may be free.
          <div onInput={() => setAsked(null)}>
            <Form
              title="Name an environment"
              send={asked === null ? 'Save' : `Replace ${asked.name}`}
              onSend={set}
              onClose={() => open(false)}
            >
              <Field label="Name" name="name" required maxLength={100} placeholder="weather" />
              <Lines label="Packages, one a line" name="requirements" placeholder={'dask\nxarray'} />
              <Field label="Python" name="python" placeholder="as the instance" maxLength={4} />
              <Field label="Or a container image" name="container" placeholder="ghcr.io/example/weather:1" />
            </Form>
          </div>
        )
      }
    >
      <Table
        caption="Software environments"
        columns={['Name', 'Version', 'Content', 'By', 'Changed', ...(mayChange ? ['Actions'] : [])]}
        keys={environments.map(({ name }) => name)}
        rows={environments.map((each) => [
          ...[each.name, each.version, each.summary, each.user, time(each.updatedAt)],
          ...(mayChange
            ? [
                <Act
                  text="Delete"
                  of={each.name}
                  ask={`Delete the name ${each.name}? What uses it goes on.`}
                  onAct={() => call(session, 'DELETE', pathOf(each.name)).finally(again)}
                />,
              ]
            : []),
        ])}
      />
    </Section>
  );
}

const pathOf = (name: string): string => `/v1/environments/${encodeURIComponent(name)}`;

/** The API refuses both at once, and neither. */
function contentOf(values: Values): PutEnvironment {
  const [container, python] = [values.text('container'), values.text('python')];
  const requirements = values
    .text('requirements')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return {
    ...(container === '' ? {} : { container }),
    ...(requirements.length === 0 ? {} : { software: { requirements, ...(python === '' ? {} : { python }) } }),
  };
}
