// Takes the large files of a job out of the text of its request. What is left is parsed and checked like any other request, in a few milliseconds.
import { z } from 'zod';

import { shapeOf } from '../../domain/requests/json-shape.ts';
import type { CreateJobParsed } from '../../schema/jobs.ts';
import type { JobBody } from '../../services/jobs/body.ts';

export interface ReadBody {
  /** Why the body is not parsed (domain/requests/json-shape.ts), and what it holds. */
  problem: string | null;
  parts: number;
  /** The body as JSON, or whatever it was, with empty contents instead of the large ones. */
  text: string;
  contents: LargeContent[];
}

/** The base64 text of `files[index].content`, in a buffer of its own. */
export interface LargeContent {
  index: number;
  base64: Uint8Array<ArrayBuffer>;
}

/** The checked request, with its contents again. */
export function withContents(body: CreateJobParsed, contents: LargeContent[] = []): JobBody {
  if (contents.length === 0) return body;
  const large = new Map(contents.map(({ index, base64 }) => [index, base64]));
  return { ...body, files: body.files.map((file, index) => ({ ...file, content: large.get(index) ?? file.content })) };
}

export function readJobBody(bytes: Uint8Array): ReadBody {
  const text = new TextDecoder().decode(bytes);
  const shape = shapeOf(text);
  if (shape.problem !== null) return { ...shape, text: '', contents: [] };
  const body = parsed(text);
  const contents = takeOut(body);
  return { ...shape, text: contents.length > 0 ? JSON.stringify(body) : text, contents };
}

/** Syntax errors are left to the parser of the request. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Contents that are no base64 stay, and are refused with the rest. */
function takeOut(body: unknown): LargeContent[] {
  if (!isObject(body) || !Array.isArray(body['files'])) return [];
  const contents: LargeContent[] = [];
  for (const [index, file] of body['files'].entries()) {
    const content: unknown = isObject(file) ? file['content'] : null;
    if (typeof content !== 'string' || content.length < minChars || !base64.safeParse(content).success) continue;
    const taken = new Uint8Array(content.length);
    Buffer.from(taken.buffer).write(content, 'latin1');
    contents.push({ index, base64: taken });
    Object.assign(file, { content: '' });
  }
  return contents;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

const base64 = z.base64();
const minChars = 64 * 1024;
