// Secrets that a command is given: on standard input, or asked for. As an argument everybody who may list the processes of the machine
// sees them, and the shell writes them down; such arguments are still understood, with a word about it.

import { type CameraUrl, parseCameraUrl } from '../model/camera-url.ts'
import { type Command, type CommandCall, type CommandOptions, UsageError } from './command.ts'
import { readHidden, readPiped, type Terminal } from './terminal.ts'

type SecretCall = Pick<CommandCall, 'options' | 'switches' | 'terminal'>

/** `--NAME` and `--NAME-stdin`. `otherwise`: what happens without either. */
export function secretOptions(name: string, { what, otherwise }: { what: string; otherwise: string }): CommandOptions {
  return {
    [name]: { placeholder: name.toUpperCase(), description: '', isHidden: true },
    [`${name}-stdin`]: { description: `Reads ${what} from standard input. Without, ${otherwise}.` },
  }
}

/** Undefined when neither was given. */
export async function readSecretOption(
  { options, switches, terminal }: SecretCall,
  command: Command,
  name: string,
): Promise<string | undefined> {
  const given = options[name]
  const isPiped = switches.has(`${name}-stdin`)
  if (given !== undefined && isPiped) throw new UsageError(`--${name} and --${name}-stdin exclude each other`, command)
  if (isPiped) return readPiped(terminal)
  if (given !== undefined) warn(terminal, `--${name}`, `--${name}-stdin`)
  return given
}

export const cameraPasswordOption: CommandOptions = {
  'password-stdin': {
    description:
      'Reads the password of the user in the address from standard input. Without, it is asked for when the address has a user and no password.',
  },
}

/**
 * The camera at `text`, or at what standard input says for `-`. The password of the user in it is read from standard input, or asked
 * for; on a terminal nothing may be entered, for a user without one.
 */
export async function readCameraUrl(
  { switches, terminal }: SecretCall,
  command: Command,
  text: string,
  parse: (text: string) => CameraUrl = parseCameraUrl,
): Promise<CameraUrl> {
  const isPiped = switches.has('password-stdin')
  if (text === '-') {
    if (isPiped) throw new UsageError('of - and --password-stdin only one can be read from standard input', command)
    return parse(await readPiped(terminal))
  }
  const source = parse(text)
  if (source.password !== null && source.password !== '') {
    if (isPiped) throw new UsageError('the address has a password already: --password-stdin reads another', command)
    warn(terminal, 'the address', '--password-stdin')
    return source
  }
  if (isPiped) {
    if (source.username === null) throw new UsageError('--password-stdin: the address names no user', command)
    return { ...source, password: await readPiped(terminal) }
  }
  if (source.username === null || !terminal.stdin.isTTY) return source
  const { host } = new URL(source.url)
  return { ...source, password: await readHidden(terminal, `Password of ${source.username} at ${host}: `) }
}

function warn({ stderr }: Terminal, where: string, better: string): void {
  stderr.write(
    `nightjar: other users of this machine may have read the password or secret in ${where}: use ${better}\n`,
  )
}
