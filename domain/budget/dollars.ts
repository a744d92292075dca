// Formats millionths of a dollar.

/** `$12.50`; four digits below ten cents, because small limits would read as $0.00. */
export const spellDollars = (micros: number): string => {
  const dollars = micros / 1e6;
  return `$${dollars.toFixed(dollars !== 0 && Math.abs(dollars) < 0.1 ? 4 : 2)}`;
};
