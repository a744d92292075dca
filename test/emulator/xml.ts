// Answers of the EC2 and STS Query APIs. Lists are written as <item> elements, as EC2 does.

export type Xml = string | number | boolean | null | undefined | Xml[] | { [name: string]: Xml };

export function ec2Answer(action: string, requestId: string, body: { [name: string]: Xml }): string {
  const namespace = 'http://ec2.amazonaws.com/doc/2016-11-15/';
  return `${head}<${action}Response xmlns="${namespace}">${write({ requestId, ...body })}</${action}Response>`;
}

export function ec2Error(code: string, message: string, requestId: string): string {
  return `${head}<Response>${write({ Errors: { Error: { Code: code, Message: message } }, RequestID: requestId })}</Response>`;
}

export function stsAnswer(action: string, requestId: string, result: { [name: string]: Xml }): string {
  const namespace = 'https://sts.amazonaws.com/doc/2011-06-15/';
  const body = { [`${action}Result`]: result, ResponseMetadata: { RequestId: requestId } };
  return `${head}<${action}Response xmlns="${namespace}">${write(body)}</${action}Response>`;
}

/** IAM writes lists as <member> elements; null: an answer without a result. */
export function iamAnswer(action: string, requestId: string, result: { [name: string]: Xml } | null): string {
  const namespace = 'https://iam.amazonaws.com/doc/2010-05-08/';
  const body = {
    ...(result === null ? {} : { [`${action}Result`]: result }),
    ResponseMetadata: { RequestId: requestId },
  };
  return `${head}<${action}Response xmlns="${namespace}">${write(body, 'member')}</${action}Response>`;
}

/** Of STS and IAM. */
export function stsError(code: string, message: string, requestId: string): string {
  return `${head}<ErrorResponse>${write({ Error: { Type: 'Sender', Code: code, Message: message }, RequestId: requestId })}</ErrorResponse>`;
}

const head = '<?xml version="1.0" encoding="UTF-8"?>';

function write(value: Xml, element = 'item'): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return value.map((item) => `<${element}>${write(item, element)}</${element}>`).join('');
  if (typeof value !== 'object') return escape(String(value));
  return Object.entries(value)
    .filter(([, inner]) => inner !== null && inner !== undefined)
    .map(([name, inner]) => `<${name}>${write(inner, element)}</${name}>`)
    .join('');
}

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
