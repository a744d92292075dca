// A value that is never printed by accident: every conversion to text gives `[secret]`. Only reveal() returns it, so a search
// for `reveal(` finds each use of a secret.

export interface Secret {
  /** The value itself. Never pass it to a log, an error or argv. */
  reveal(): string;
  toString(): string;
  toJSON(): string;
}

export function createSecret(value: string): Secret {
  return Object.freeze({
    reveal: () => value,
    toString: () => hidden,
    toJSON: () => hidden,
    [Symbol.toPrimitive]: () => hidden,
    [Symbol.for('nodejs.util.inspect.custom')]: () => hidden,
  });
}

const hidden = '[secret]';
