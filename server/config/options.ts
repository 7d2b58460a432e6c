// All options of the configuration with their names, defaults, limits and descriptions. `port` is the flag `--port`,
// the environment variable `NIGHTJAR_PORT` and the entry "port" of the file.

import { isIP, isIPv4, isIPv6 } from 'node:net'
import { join } from 'node:path'
import { isAddressOrBlock } from '../api/transport/trusted-proxies.ts'
import { findMemoryBytes } from '../memory-shares.ts'
import { parseEmail } from '../model/email.ts'
import { parsePeerAddress } from '../model/peer-address.ts'
import { archiveOption } from './archive-option.ts'
import { databaseOption } from './database-option.ts'
import { choiceOption, integerOption, listOption, pathOption, switchOption, textOption } from './option.ts'
import { sizeOption } from './size-option.ts'
import { smtpOption } from './smtp-option.ts'

export const options = {
  data: pathOption({
    placeholder: 'FOLDER',
    description:
      'Data folder. It holds the secret key, the certificate and, unless other options say otherwise, the database and the recordings.',
    defaultText: '`data` in the folder of the program',
    createDefault: ({ programDir }) => join(programDir, 'data'),
  }),
  archive: archiveOption,
  'archive-max': sizeOption<number | undefined>({
    description: 'Size limit for all recordings together. The oldest are deleted first.',
    defaultText: 'no limit but the disk',
    minBytes: 16_000_000,
    createDefault: () => undefined,
  }),
  'min-free': sizeOption<number | undefined>({
    description:
      'Disk space to keep free. To keep it free, the server deletes the oldest recordings early, or stops recording.',
    defaultText: '5 % of the disk, at most 2 GiB',
    minBytes: 0,
    createDefault: () => undefined,
  }),
  database: databaseOption,
  'secret-key-file': pathOption<string | undefined>({
    placeholder: 'FILE',
    description:
      'File with the secret key, which seals passwords in the database and signs links. All servers of a database need the same.',
    defaultText: '`secret.key` in the data folder, made at the first start',
    createDefault: () => undefined,
  }),
  host: textOption({
    placeholder: 'ADDRESS',
    description: 'Address to listen on. Use `127.0.0.1` for this machine only, and `::` for IPv6 and IPv4.',
    defaultText: '`0.0.0.0`, all IPv4 addresses',
    form: 'a host name or an IP address',
    createDefault: () => '0.0.0.0',
    read: (text) => (/^[\w.:%-]{1,255}$/.test(text) ? text : undefined),
  }),
  port: integerOption({
    description: 'HTTPS port. 0 lets the system choose one.',
    min: 0,
    max: 65_535,
    defaultText: '`8443`',
    createDefault: () => 8443,
  }),
  'public-url': textOption<string | undefined>({
    placeholder: 'URL',
    description: 'URL that clients use to reach the server. All links in responses begin with it.',
    defaultText: '`https://localhost:{port}`',
    form: 'https://, a host and possibly a port, nothing else',
    createDefault: () => undefined,
    read: readOrigin,
  }),
  'tls-cert': pathOption<string | undefined>({
    placeholder: 'FILE',
    description:
      'PEM file with the TLS certificate and its chain. Requires `tls-key`. The server picks up replaced files within seconds.',
    defaultText: 'one of our own, made in the data folder',
    createDefault: () => undefined,
  }),
  'tls-key': pathOption<string | undefined>({
    placeholder: 'FILE',
    description: 'PEM file with the private key of `tls-cert`.',
    defaultText: 'that of our own certificate',
    createDefault: () => undefined,
  }),
  'behind-proxy': switchOption(
    'Serve plain HTTP to the `trusted-proxies` only, one of which terminates TLS. Requires `public-url`.',
  ),
  'trusted-proxies': listOption({
    placeholder: 'ADDRESSES',
    description: 'Proxies whose X-Forwarded-… headers are trusted.',
    defaultText: 'none; with `behind-proxy` those on this machine',
    form: 'IP addresses, or blocks as 10.0.0.0/8, separated by commas',
    createDefault: () => [],
    isItem: isAddressOrBlock,
  }),
  'allowed-hosts': listOption({
    placeholder: 'NAMES',
    description:
      'Additional host names of the server. Requests for other host names are refused, except for the host of `public-url`, `localhost` and the addresses of the server.',
    defaultText: 'the host name, also with `.local`',
    form: 'host names separated by commas',
    createDefault: ({ hostName }) => [hostName, `${hostName}.local`].map((name) => name.toLowerCase()),
    isItem: (text) => /^[\w-]+(\.[\w-]+)*$/.test(text) && text.length <= 253,
  }),
  'rate-limit': integerOption({
    description:
      'API requests per minute for each account, or for each address if nobody is signed in. 0 means no limit.',
    min: 0,
    max: 10_000_000,
    unit: 'a minute',
    defaultText: '`3000`',
    createDefault: () => 3000,
  }),
  'token-rate-limit': integerOption({
    description: 'Token requests per minute from one address. 0 means no limit.',
    min: 0,
    max: 10_000_000,
    unit: 'a minute',
    defaultText: '`300`',
    createDefault: () => 300,
  }),
  'access-token-seconds': integerOption({
    description: 'Lifetime of access tokens, in seconds.',
    min: 60,
    max: 86_400,
    unit: 'seconds',
    defaultText: '`36000`',
    createDefault: () => 36_000,
  }),
  'refresh-token-days': integerOption({
    description: 'Lifetime of refresh tokens, in days. Each refresh restarts it.',
    min: 1,
    max: 3650,
    unit: 'days',
    defaultText: '`30`',
    createDefault: () => 30,
  }),
  'grant-days': integerOption({
    description:
      'Days after which an application must ask its user for access again, however often it refreshes. 0 means never.',
    min: 0,
    max: 3650,
    unit: 'days',
    defaultText: '`365`',
    createDefault: () => 365,
  }),
  'session-days': integerOption({
    description:
      'Days after which a browser must sign in again, however much it is used. 0 means never, for example for a wall display. A browser that is not used for 14 days is always signed out.',
    min: 0,
    max: 3650,
    unit: 'days',
    defaultText: '`30`',
    createDefault: () => 30,
  }),
  'refresh-reuse-leeway-seconds': integerOption({
    description:
      'Grace period for refresh tokens that are sent again with another Idempotency-Key: within it, they are only refused. With 0, the response to a refresh is not repeated, and any token that is used twice revokes the whole grant.',
    min: 0,
    max: 300,
    unit: 'seconds',
    defaultText: '`10`',
    createDefault: () => 10,
  }),
  'no-password-grant': switchOption(
    'Turn off the password grant for all applications. Users can then sign in only on the pages of this server.',
  ),
  'sign-up': choiceOption(['closed', 'invitation', 'open'], {
    description:
      'Who can get an account: only people for whom an owner creates one (`closed`), also people whom a user invites (`invitation`), or anyone with an email address (`open`).',
    fallback: 'invitation',
  }),
  'identity-providers': pathOption<string | undefined>({
    placeholder: 'FILE',
    description:
      'JSON file with the identity providers (OpenID Connect) that people may sign in with; see [operating](../operating.md#sign-in-with-an-identity-provider).',
    defaultText: 'none',
    createDefault: () => undefined,
  }),
  'smtp-url': smtpOption,
  'smtp-ca': pathOption<string | undefined>({
    placeholder: 'FILE',
    description:
      'PEM file with the certificate of the mail server or of its authority, to trust besides those of the system. Not needed for a mail server on this machine.',
    defaultText: 'none',
    createDefault: () => undefined,
  }),
  'mail-from': textOption<string | undefined>({
    placeholder: 'EMAIL',
    description: 'Sender address of emails.',
    defaultText: '`nightjar@` and the host of `public-url`',
    form: 'an email address',
    createDefault: () => undefined,
    read: readEmail,
  }),
  'event-days': integerOption({
    description: 'Days to keep events. 0 means forever.',
    min: 0,
    max: 36_500,
    unit: 'days',
    defaultText: '`365`',
    createDefault: () => 365,
  }),
  'event-limit': integerOption({
    description: 'Maximum number of events per camera. The oldest are deleted first.',
    min: 100,
    max: 100_000_000,
    defaultText: '`100000`',
    createDefault: () => 100_000,
  }),
  'outage-seconds': integerOption({
    description:
      'Seconds that a camera must be offline or back online, or a gap in a recording must last, before the server creates an event.',
    min: 1,
    max: 3600,
    unit: 'seconds',
    defaultText: '`15`',
    createDefault: () => 15,
  }),
  'audit-days': integerOption({
    description: 'Days to keep the audit log.',
    min: 1,
    max: 36_500,
    unit: 'days',
    defaultText: '`365`',
    createDefault: () => 365,
  }),
  'allow-loopback-cameras': switchOption(
    'Allow cameras on this machine (loopback addresses). This is off by default so that a camera URL cannot reach services of the machine.',
  ),
  'guests-add-cameras': switchOption(
    'Let people who were invited to a camera, and have no account yet, add own cameras as well. Without it they only watch, until an owner allows more.',
  ),
  'camera-limit': integerOption({
    description:
      'Maximum number of cameras per account. Owners of the server are not limited, and existing cameras are kept. 0 means no limit.',
    min: 0,
    max: 1_000_000,
    defaultText: '`100`',
    createDefault: () => 100,
  }),
  'camera-networks': listOption<readonly string[] | undefined>({
    placeholder: 'ADDRESSES',
    description: 'Private networks where cameras are allowed. An empty list means none.',
    defaultText: 'all, but none where `sign-up` is `open`',
    form: 'IP addresses, or blocks as 192.168.1.0/24, separated by commas',
    createDefault: () => undefined,
    isItem: isAddressOrBlock,
  }),
  'name-servers': listOption<readonly string[] | undefined>({
    placeholder: 'ADDRESSES',
    description: 'DNS servers for looking up cameras and the mail server.',
    defaultText: 'those of the system',
    form: 'IP addresses, possibly with a port as 192.0.2.1:5353 or [2001:db8::1]:5353, separated by commas',
    createDefault: () => undefined,
    isItem: isNameServer,
  }),
  isolation: choiceOption(['auto', 'require', 'off'], {
    description:
      'Isolation of the decoder processes from the network, files and other processes: auto isolates as far as the system allows, require refuses to start without full isolation, and off turns it off.',
    fallback: 'auto',
  }),
  workers: integerOption({
    description: 'Number of threads that receive and record video. Cameras are distributed among them.',
    min: 1,
    max: 64,
    defaultText: 'one less than there are processor cores, at least 1',
    createDefault: ({ cores }) => Math.min(64, Math.max(1, cores - 1)),
  }),
  'memory-mb': integerOption({
    description:
      'Memory that the server may plan with. Caches, queues and client buffers are sized from it. Set it lower if other programs need memory.',
    min: 128,
    max: 16_777_216,
    unit: 'MiB',
    defaultText: 'what the machine has, or the control group of the process',
    createDefault: () => Math.floor(findMemoryBytes() / 2 ** 20),
  }),
  'sync-interval-ms': integerOption({
    description: 'Maximum time before recorded footage is synced to the disk.',
    min: 100,
    max: 60_000,
    unit: 'milliseconds',
    defaultText: '`5000`',
    createDefault: () => 5000,
  }),
  'node-name': textOption({
    placeholder: 'NAME',
    description:
      'Name of this server, different for each server of a database. It is part of the URLs of recorded streams.',
    defaultText: 'the host name',
    form: '1 to 63 letters, digits, dots and hyphens, beginning with a letter or digit',
    createDefault: ({ hostName }) => readNodeName(hostName.replaceAll(/[^A-Za-z0-9.-]/g, '-')) ?? 'nightjar',
    read: readNodeName,
  }),
  'no-cameras': switchOption(
    'Connect and record no cameras, but answer together with the servers that do, from the same PostgreSQL database.',
  ),
  'peer-address': textOption<string | undefined>({
    placeholder: 'HOST:PORT',
    description:
      'Where other servers of the database reach this one, in a network that is not public. The server listens there, for them only. Required by each server with cameras if there are others. With it, a server without cameras plays footage that is in a bucket by itself.',
    defaultText: 'none',
    form: 'a name or an address of this machine and a port, as n1.internal:8444',
    createDefault: () => undefined,
    read: (text) => parsePeerAddress(text) && text,
  }),
  'drain-seconds': integerOption({
    description:
      'How long the server goes on answering after SIGTERM while `/healthz` is 503 already, so that a balancer sends nothing more. A second signal ends it at once.',
    min: 0,
    max: 3600,
    unit: 'seconds',
    defaultText: '`0`',
    createDefault: () => 0,
  }),
  'log-level': choiceOption(['debug', 'info', 'warn', 'error', 'silent'], {
    description: 'Minimum severity of log messages. They are written to standard error as lines of JSON.',
    fallback: 'info',
  }),
}

function isNameServer(text: string): boolean {
  const [, bracketed, plain, port] = /^(?:\[(.+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? []
  if (port === undefined) return isIP(text) !== 0
  return Number(port) > 0 && Number(port) <= 65_535 && (bracketed ? isIPv6(bracketed) : isIPv4(plain!))
}

function readEmail(text: string): string | undefined {
  try {
    return parseEmail(text)
  } catch {
    return undefined
  }
}

function readNodeName(text: string): string | undefined {
  return /^[A-Za-z0-9][A-Za-z0-9.-]{0,62}$/.test(text) ? text : undefined
}

function readOrigin(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isOrigin = url?.protocol === 'https:' && url.href === `${url.origin}/` && !text.includes('@')
  return isOrigin ? url.origin : undefined
}
