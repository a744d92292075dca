// Forms that a button of a page opens, and their fields. Fields keep the typed text while the page reads again.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import { textOf } from './format.ts';

interface Props {
  title: string;
  /** On the button that sends it. */
  send: string;
  children: ComponentChildren;
  /** Rejects with a text for people: the form stays open and shows it. */
  onSend: (values: Values) => Promise<unknown>;
  onClose: () => void;
}

export interface Values {
  /** Without blanks around it; '' when the field is empty. */
  text: (name: string) => string;
  /** Undefined when the field is empty. */
  number: (name: string) => number | undefined;
  isChecked: (name: string) => boolean;
}

export function Form({ title, send, children, onSend, onClose }: Props) {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState('');
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    const opener = document.activeElement;
    form.current?.querySelector<HTMLElement>('input, select, textarea')?.focus();
    return () => {
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    if (form.current === null) return;
    setBusy(true);
    setProblem('');
    onSend(valuesOf(new FormData(form.current))).then(onClose, (error: unknown) => {
      setProblem(textOf(error));
      setBusy(false);
    });
  };
  return (
    <form
      ref={form}
      class="panel"
      aria-label={title}
      onSubmit={submit}
      onKeyDown={(event) => event.key === 'Escape' && onClose()}
    >
      <h3>{title}</h3>
      <div class="fields">{children}</div>
      {problem !== '' && <p role="alert">{problem}</p>}
      <div class="actions">
        <button class="primary" disabled={isBusy}>
          {send}
        </button>
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </form>
  );
}

interface OpenerProps {
  text: string;
  isOpen: boolean;
  onChange: (isOpen: boolean) => void;
}

/** It stays while its form is open: the focus comes back to it. */
export const Opener = ({ text, isOpen, onChange }: OpenerProps) => (
  <button aria-expanded={isOpen} onClick={() => onChange(!isOpen)}>
    {text}
  </button>
);

function valuesOf(data: FormData): Values {
  const text = (name: string): string => {
    const value = data.get(name);
    return typeof value === 'string' ? value.trim() : '';
  };
  const number = (name: string): number | undefined => (text(name) === '' ? undefined : Number(text(name)));
  return { text, number, isChecked: (name) => data.has(name) };
}

interface FieldProps {
  label: string;
  name: string;
  value?: string | number;
  required?: boolean;
  placeholder?: string;
  maxLength?: number;
}

export const Field = ({ label, value, ...input }: FieldProps & { autocomplete?: string }) => (
  <label>
    {label}
    <input {...input} defaultValue={value === undefined ? '' : String(value)} />
  </label>
);

export function NumberField({ label, value, ...input }: FieldProps & { min: number; max: number; step?: number }) {
  return (
    <label>
      {label}
      <input type="number" {...input} defaultValue={value === undefined ? '' : String(value)} />
    </label>
  );
}

export const Lines = ({ label, name, placeholder }: FieldProps) => (
  <label>
    {label}
    <textarea rows={3} {...{ name, placeholder }} />
  </label>
);

interface ChoiceProps {
  label: string;
  name: string;
  value?: string;
  choices: readonly (string | { value: string; text: string })[];
}

export const Choice = ({ label, name, value, choices }: ChoiceProps) => (
  <label>
    {label}
    <select name={name}>
      {choices.map((each) => {
        const choice = typeof each === 'string' ? { value: each, text: each } : each;
        return (
          <option key={choice.value} value={choice.value} selected={choice.value === value}>
            {choice.text}
          </option>
        );
      })}
    </select>
  </label>
);

export const Check = ({ label, name, isChecked = false }: { label: string; name: string; isChecked?: boolean }) => (
  <label class="check">
    <input type="checkbox" name={name} defaultChecked={isChecked} /> {label}
  </label>
);

/** A value that the API shows only once. */
export function Secret({ what, text, onClose }: { what: string; text: string; onClose: () => void }) {
  const [isCopied, setCopied] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    field.current?.focus();
    field.current?.select();
  }, [text]);
  const copy = (): void => {
    field.current?.select();
    // Browsers have no clipboard at an address without TLS: the text is selected there.
    void navigator.clipboard?.writeText(text).then(
      () => setCopied(true),
      () => undefined,
    );
  };
  return (
    <div class="panel secret">
      <label>
        {what} Copy it now: it is shown this once.
        <input ref={field} readOnly value={text} spellcheck={false} />
      </label>
      <div class="actions">
        <button class="primary" onClick={copy}>
          Copy
        </button>
        <button onClick={onClose}>I have it</button>
        <span role="status">{isCopied && 'Copied.'}</span>
      </div>
    </div>
  );
}
