// Checks the shape of a JSON text before it is parsed: a parser takes seconds for millions of levels, and a schema for millions of keys, and the API
// process serves no other request meanwhile. One pass over the text; it leaves syntax errors to the parser.
import { maxJsonDepth, maxJsonItems, maxJsonKeys } from './limits.ts';

const quote = 0x22;
const comma = 0x2c;
const openList = 0x5b;
const backslash = 0x5c;
const closeList = 0x5d;
const openMap = 0x7b;
const closeMap = 0x7d;

/**
 * Returns why this text is not parsed, worded to follow "The request body"; null for an acceptable shape. `parts`: number of its lists and objects,
 * each of which costs as much as many characters.
 */
export function shapeOf(text: string): { problem: string | null; parts: number } {
  let parts = 0;
  const problem = problemOf(text, () => (parts += 1));
  return { problem, parts };
}

function problemOf(text: string, onPart: () => void): string | null {
  /** Number of commas in each open list or map, from the outermost. */
  const commas: number[] = [];
  const isMap: boolean[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at);
    else if (code === comma) {
      const last = commas.length - 1;
      const count = (commas[last] ?? 0) + 1;
      commas[last] = count;
      if (isMap[last] === true ? count >= maxJsonKeys : count >= maxJsonItems) return tooMany(isMap[last] === true);
    } else if (code === openList || code === openMap) {
      if (commas.length === maxJsonDepth) return `is nested deeper than ${maxJsonDepth} levels`;
      onPart();
      commas.push(0);
      isMap.push(code === openMap);
    } else if (code === closeList || code === closeMap) {
      commas.pop();
      isMap.pop();
    }
  }
  return null;
}

/** Index of the closing quote, or the end of the text when there is none. */
function endOfString(text: string, start: number): number {
  let at = start;
  for (;;) {
    at = text.indexOf('"', at + 1);
    if (at === -1) return text.length;
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === backslash) slashes += 1;
    if (slashes % 2 === 0) return at;
  }
}

const tooMany = (isMap: boolean): string =>
  isMap ? `has an object of more than ${maxJsonKeys} fields` : `has a list of more than ${maxJsonItems} items`;
