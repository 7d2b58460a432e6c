// All options of the configuration: the one place where an option's name, default, limits and meaning are said.
// `port` is the flag `--port`, the variable `NIGHTJAR_PORT` and the entry "port" of the file.

import { join } from 'node:path'
import { databaseOption } from './database-option.ts'
import { choiceOption, integerOption, pathOption, switchOption, textOption } from './option.ts'

export const options = {
  data: pathOption({
    placeholder: 'FOLDER',
    sentence:
      'Folder of the secret key, the certificate and, unless other options say otherwise, the database and the recordings.',
    defaultText: '`data` in the folder of the program',
    createDefault: ({ programDir }) => join(programDir, 'data'),
  }),
  archive: pathOption({
    placeholder: 'FOLDER',
    sentence: 'Folder of the recordings.',
    defaultText: '`archive` in the data folder',
    createDefault: ({ dataDir }) => join(dataDir, 'archive'),
  }),
  database: databaseOption,
  host: textOption({
    placeholder: 'ADDRESS',
    sentence: 'Address to listen on: `127.0.0.1` for this machine only, `::` for IPv6 and IPv4.',
    defaultText: '`0.0.0.0`, all IPv4 addresses',
    form: 'a host name or an IP address',
    createDefault: () => '0.0.0.0',
    read: (text) => (/^[\w.:%-]{1,255}$/.test(text) ? text : undefined),
  }),
  port: integerOption({
    sentence: 'Port of the one HTTPS server; 0 lets the system choose.',
    min: 0,
    max: 65_535,
    defaultText: '`8443`',
    createDefault: () => 8443,
  }),
  'public-url': textOption<string | undefined>({
    placeholder: 'URL',
    sentence: 'Address under which clients reach the server; all links in answers begin with it.',
    defaultText: '`https://localhost:{port}`',
    form: 'https://, a host and possibly a port, nothing else',
    createDefault: () => undefined,
    read: readOrigin,
  }),
  'tls-cert': pathOption<string | undefined>({
    placeholder: 'FILE',
    sentence: 'PEM file of the TLS certificate and its chain; goes with `tls-key`.',
    defaultText: 'a self-signed one, made in the data folder',
    createDefault: () => undefined,
  }),
  'tls-key': pathOption<string | undefined>({
    placeholder: 'FILE',
    sentence: 'PEM file of the private key of `tls-cert`.',
    defaultText: 'that of the self-signed certificate',
    createDefault: () => undefined,
  }),
  'allow-loopback-cameras': switchOption(
    'Lets cameras be on this very machine; off, so that a camera URL cannot reach into it.',
  ),
  workers: integerOption({
    sentence: 'Threads that receive and record; the cameras are spread over them.',
    min: 1,
    max: 64,
    defaultText: 'one less than there are processor cores, at least 1',
    createDefault: ({ cores }) => Math.min(64, Math.max(1, cores - 1)),
  }),
  'sync-interval-ms': integerOption({
    sentence: 'Longest time after which recorded footage is forced from the memory of the system to the disk.',
    min: 100,
    max: 60_000,
    unit: 'milliseconds',
    defaultText: '`5000`',
    createDefault: () => 5000,
  }),
  'node-name': textOption({
    placeholder: 'NAME',
    sentence: 'Name of this server in the addresses of recorded streams.',
    defaultText: 'the host name',
    form: '1 to 63 letters, digits, dots and hyphens, beginning with a letter or digit',
    createDefault: ({ hostName }) => readNodeName(hostName.replaceAll(/[^A-Za-z0-9.-]/g, '-')) ?? 'nightjar',
    read: readNodeName,
  }),
  'log-level': choiceOption(['debug', 'info', 'warn', 'error', 'silent'], {
    sentence: 'Least severity of what is logged, as lines of JSON on standard error.',
    fallback: 'info',
  }),
}

function readNodeName(text: string): string | undefined {
  return /^[A-Za-z0-9][A-Za-z0-9.-]{0,62}$/.test(text) ? text : undefined
}

function readOrigin(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isOrigin = url?.protocol === 'https:' && url.href === `${url.origin}/` && !text.includes('@')
  return isOrigin ? url.origin : undefined
}
