// A package index (PEP 503) that requires credentials, with one package: `private-plans`.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface PrivateIndex {
  /** Without credentials. */
  url: string;
  username: string;
  password: string;
  /** The same, as in the configuration of pip and uv. */
  withCredentials: string;
  /** The users that have downloaded the package's file: any name is one, with the password. */
  downloadedBy: () => Set<string>;
  close: () => Promise<void>;
}

const file = 'private_plans-1.0-py3-none-any.whl';
const metadata = 'private_plans-1.0.dist-info';
const files = {
  'private_plans.py': 'value = "from the private index"\n',
  [`${metadata}/METADATA`]: 'Metadata-Version: 2.1\nName: private-plans\nVersion: 1.0\n',
  [`${metadata}/WHEEL`]: 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
  [`${metadata}/RECORD`]: '',
};
const program = `import json, sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as archive:
    for name, text in json.loads(sys.argv[2]).items():
        archive.writestr(name, text)
`;

/** `directory`: for the wheel. */
export async function openPrivateIndex(directory: string): Promise<PrivateIndex> {
  const path = join(directory, file);
  await promisify(execFile)('python3', ['-c', program, path, JSON.stringify(files)]);
  const wheel = await readFile(path);
  const [username, password] = ['ada', 'p@ss/word:1'];
  const downloadedBy = new Set<string>();
  const server = createServer((request, response) => {
    const [, encoded = ''] = /^Basic (.+)$/.exec(request.headers.authorization ?? '') ?? [];
    const [user = '', ...rest] = Buffer.from(encoded, 'base64').toString('utf8').split(':');
    if (rest.join(':') !== password) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="packages"' }).end();
    } else if (request.url === '/simple/private-plans/') {
      response.writeHead(200, { 'content-type': 'text/html' }).end(`<a href="/files/${file}">${file}</a>`);
    } else if (request.url === `/files/${file}`) {
      downloadedBy.add(user);
      response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(wheel);
    } else response.writeHead(404).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const host = `127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  const credentials = `${username}:${encodeURIComponent(password)}`;
  return {
    ...{ url: `http://${host}/simple`, username, password, withCredentials: `http://${credentials}@${host}/simple` },
    downloadedBy: () => downloadedBy,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
