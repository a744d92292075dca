// Named software environments: users who may write point a name to packages or to a container, and delete one.
import { useState } from 'preact/hooks';

import type { NamedEnvironment, PutEnvironment } from '../../schema/environments.ts';
import { Field, Form, Lines, Opener, type Values } from '../forms.tsx';
import { time } from '../format.ts';
import { Act, Table } from '../parts.tsx';
import { call, mayWrite, type Session } from '../session.ts';
import { Section } from './section.tsx';

interface Props {
  session: Session;
  environments: NamedEnvironment[];
  again: () => Promise<void>;
}

export function Environments({ session, environments, again }: Props) {
  const [isOpen, setOpen] = useState(false);
  const mayChange = mayWrite(session);
  const set = async (values: Values): Promise<void> => {
    const name = values.text('name');
    if (environments.some((each) => each.name === name) && !values.text('container') && !values.text('requirements'))
      throw new Error('Name packages or a container.');
    await call(session, 'PUT', pathOf(name), contentOf(values)).finally(again);
  };
  return (
    <Section
      title="Software environments"
      isEmpty={environments.length === 0}
      empty="No environment has a name. Clusters and jobs bring their own software."
      action={mayChange && <Opener text="Name an environment" isOpen={isOpen} onChange={setOpen} />}
      above={
        isOpen && (
          <Form title="Name an environment" send="Save" onSend={set} onClose={() => setOpen(false)}>
            <Field label="Name" name="name" required maxLength={100} placeholder="weather" />
            <Lines label="Packages, one a line" name="requirements" placeholder={'dask\nxarray'} />
            <Field label="Python" name="python" placeholder="as the instance" maxLength={4} />
            <Field label="Or a container image" name="container" placeholder="ghcr.io/example/weather:1" />
          </Form>
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
