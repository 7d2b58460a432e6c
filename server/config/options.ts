// All options of the configuration: the one place where an option's name, default, limits and meaning are said.
// `port` is the flag `--port`, the variable `NIGHTJAR_PORT` and the entry "port" of the file.

import { isIP, isIPv4, isIPv6 } from 'node:net'
import { join } from 'node:path'
import { isAddressOrBlock } from '../api/transport/trusted-proxies.ts'
import { findMemoryBytes } from '../memory-shares.ts'
import { parseEmail } from '../model/email.ts'
import { databaseOption } from './database-option.ts'
import { choiceOption, integerOption, listOption, pathOption, switchOption, textOption } from './option.ts'
import { sizeOption } from './size-option.ts'
import { smtpOption } from './smtp-option.ts'

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
  'archive-max': sizeOption<number | undefined>({
    sentence: 'Largest size of all recordings together; the oldest go first.',
    defaultText: 'no limit but the disk',
    minBytes: 16_000_000,
    createDefault: () => undefined,
  }),
  'min-free': sizeOption<number | undefined>({
    sentence:
      'Space of the disk of the recordings that stays free: the oldest recordings go before their time, or nothing is recorded.',
    defaultText: '5 % of the disk, at most 2 GiB',
    minBytes: 0,
    createDefault: () => undefined,
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
    sentence:
      'PEM file of the TLS certificate and its chain; goes with `tls-key`. Files that are replaced are taken within seconds.',
    defaultText: 'a self-signed one, made in the data folder',
    createDefault: () => undefined,
  }),
  'tls-key': pathOption<string | undefined>({
    placeholder: 'FILE',
    sentence: 'PEM file of the private key of `tls-cert`.',
    defaultText: 'that of the self-signed certificate',
    createDefault: () => undefined,
  }),
  'behind-proxy': switchOption(
    'Speaks plain HTTP, to the `trusted-proxies` alone, one of which does TLS; needs `public-url`.',
  ),
  'trusted-proxies': listOption({
    placeholder: 'ADDRESSES',
    sentence: 'Proxies that are believed about the address of a client, the name asked for and HTTPS (X-Forwarded-…).',
    defaultText: 'none; with `behind-proxy` those on this machine',
    form: 'IP addresses, or blocks as 10.0.0.0/8, separated by commas',
    createDefault: () => [],
    isItem: isAddressOrBlock,
  }),
  'allowed-hosts': listOption({
    placeholder: 'NAMES',
    sentence:
      'Further names under which the server may be asked for, besides that of `public-url`, `localhost` and its addresses; a request for any other is refused.',
    defaultText: 'the host name, also with `.local`',
    form: 'host names separated by commas',
    createDefault: ({ hostName }) => [hostName, `${hostName}.local`].map((name) => name.toLowerCase()),
    isItem: (text) => /^[\w-]+(\.[\w-]+)*$/.test(text) && text.length <= 253,
  }),
  'rate-limit': integerOption({
    sentence: 'Requests of the API, by account, and by address where nobody has signed in; 0 for no limit.',
    min: 0,
    max: 10_000_000,
    unit: 'a minute',
    defaultText: '`3000`',
    createDefault: () => 3000,
  }),
  'token-rate-limit': integerOption({
    sentence: 'Requests for tokens from one address; 0 for no limit.',
    min: 0,
    max: 10_000_000,
    unit: 'a minute',
    defaultText: '`300`',
    createDefault: () => 300,
  }),
  'access-token-seconds': integerOption({
    sentence: 'How long an access token of an application lives.',
    min: 60,
    max: 86_400,
    unit: 'seconds',
    defaultText: '`36000`',
    createDefault: () => 36_000,
  }),
  'refresh-token-days': integerOption({
    sentence: 'How long an application may wait before it refreshes; each refresh begins the time anew.',
    min: 1,
    max: 3650,
    unit: 'days',
    defaultText: '`30`',
    createDefault: () => 30,
  }),
  'grant-days': integerOption({
    sentence: 'After how long an application must ask its user again, however often it refreshes; 0 for never.',
    min: 0,
    max: 3650,
    unit: 'days',
    defaultText: '`365`',
    createDefault: () => 365,
  }),
  'session-days': integerOption({
    sentence:
      'After how long a browser must sign in again, however much it is used; 0 for never, as for a screen on a wall. One that is not used for 14 days is signed out in any case.',
    min: 0,
    max: 3650,
    unit: 'days',
    defaultText: '`30`',
    createDefault: () => 30,
  }),
  'refresh-reuse-leeway-seconds': integerOption({
    sentence:
      'A refresh token that is sent again within this time of its use is only refused; later, the whole grant ends, because the token was stolen.',
    min: 0,
    max: 300,
    unit: 'seconds',
    defaultText: '`10`',
    createDefault: () => 10,
  }),
  'no-password-grant': switchOption(
    'Refuses the password grant to all applications; users then sign in on the page of this server alone.',
  ),
  'sign-up': choiceOption(['closed', 'invitation', 'open'], {
    sentence:
      'Who gets an account: those an owner makes one for (`closed`), also those a user invites, or everybody with an e-mail address (`open`).',
    fallback: 'invitation',
  }),
  'identity-providers': pathOption<string | undefined>({
    placeholder: 'FILE',
    sentence:
      'JSON file with the identity providers (OpenID Connect) that people may sign in with; see [operating](../operating.md#sign-in-with-an-identity-provider).',
    defaultText: 'none',
    createDefault: () => undefined,
  }),
  'smtp-url': smtpOption,
  'mail-from': textOption<string | undefined>({
    placeholder: 'EMAIL',
    sentence: 'Address that mails are from.',
    defaultText: '`nightjar@` and the host of `public-url`',
    form: 'an e-mail address',
    createDefault: () => undefined,
    read: readEmail,
  }),
  'event-days': integerOption({
    sentence: 'How long events are kept after they were received; 0 for ever.',
    min: 0,
    max: 36_500,
    unit: 'days',
    defaultText: '`365`',
    createDefault: () => 365,
  }),
  'event-limit': integerOption({
    sentence: 'Events kept of one camera; beyond that the oldest go.',
    min: 100,
    max: 100_000_000,
    defaultText: '`100000`',
    createDefault: () => 100_000,
  }),
  'outage-seconds': integerOption({
    sentence:
      'How long a camera must be gone, or back again, and a gap in a recording last, before the server writes an event about it.',
    min: 1,
    max: 3600,
    unit: 'seconds',
    defaultText: '`15`',
    createDefault: () => 15,
  }),
  'audit-days': integerOption({
    sentence: 'How long the audit log goes back.',
    min: 1,
    max: 36_500,
    unit: 'days',
    defaultText: '`365`',
    createDefault: () => 365,
  }),
  'allow-loopback-cameras': switchOption(
    'Lets cameras be on this very machine; off, so that a camera URL cannot reach into it.',
  ),
  'camera-limit': integerOption({
    sentence:
      'Cameras of one account; owners of the server may have any number, and who has more already keeps them; 0 for no limit.',
    min: 0,
    max: 1_000_000,
    defaultText: '`100`',
    createDefault: () => 100,
  }),
  'camera-networks': listOption<readonly string[] | undefined>({
    placeholder: 'ADDRESSES',
    sentence: 'Private networks that cameras may be in; an empty list stands for none.',
    defaultText: 'all, but none where `sign-up` is `open`',
    form: 'IP addresses, or blocks as 192.168.1.0/24, separated by commas',
    createDefault: () => undefined,
    isItem: isAddressOrBlock,
  }),
  'name-servers': listOption<readonly string[] | undefined>({
    placeholder: 'ADDRESSES',
    sentence: 'Name servers (DNS) that are asked where cameras and the mail server are.',
    defaultText: 'those of the system',
    form: 'IP addresses, possibly with a port as 192.0.2.1:5353 or [2001:db8::1]:5353, separated by commas',
    createDefault: () => undefined,
    isItem: isNameServer,
  }),
  isolation: choiceOption(['auto', 'require', 'off'], {
    sentence:
      'Whether the processes that decode what cameras send are kept from the network, from files and from other processes: as far as this system allows, wholly or the server does not start, or not at all.',
    fallback: 'auto',
  }),
  workers: integerOption({
    sentence: 'Threads that receive and record; the cameras are spread over them.',
    min: 1,
    max: 64,
    defaultText: 'one less than there are processor cores, at least 1',
    createDefault: ({ cores }) => Math.min(64, Math.max(1, cores - 1)),
  }),
  'memory-mb': integerOption({
    sentence:
      'Memory that the server plans with: its caches and queues, and what clients may make wait, are shares of it. Less than the machine has where other programs need the rest.',
    min: 128,
    max: 16_777_216,
    unit: 'MiB',
    defaultText: 'what the machine has, or the control group of the process',
    createDefault: () => Math.floor(findMemoryBytes() / 2 ** 20),
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
