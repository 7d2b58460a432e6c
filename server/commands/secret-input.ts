// Secrets for commands, from standard input or a prompt. All users of the machine can read arguments, and the shell
// stores them, so secrets as arguments are accepted with a warning only.

import { type CameraUrl, parseCameraUrl } from '../model/camera-url.ts'
import { type Command, type CommandCall, type CommandOptions, UsageError } from './command.ts'
import { readHidden, readPiped, type Terminal } from './terminal.ts'

type SecretCall = Pick<CommandCall, 'options' | 'switches' | 'terminal'>

/** `--NAME` and `--NAME-stdin`. `otherwise`: what happens without either. */
export function secretOptions(name: string, { what, otherwise }: { what: string; otherwise: string }): CommandOptions {
  return {
    [name]: { placeholder: name.toUpperCase(), description: '', isHidden: true },
    [`${name}-stdin`]: { description: `Read ${what} from standard input. Otherwise, ${otherwise}.` },
  }
}

/** Returns undefined when neither was given. */
export async function readSecretOption(
  { options, switches, terminal }: SecretCall,
  command: Command,
  name: string,
): Promise<string | undefined> {
  const given = options[name]
  const isPiped = switches.has(`${name}-stdin`)
  if (given !== undefined && isPiped)
    throw new UsageError(`--${name} and --${name}-stdin cannot be used together`, command)
  if (isPiped) return readPiped(terminal)
  if (given !== undefined) warn(terminal, `--${name}`, `--${name}-stdin`)
  return given
}

export const cameraPasswordOption: CommandOptions = {
  'password-stdin': {
    description:
      'Read the password of the user in the URL from standard input. Otherwise, the command asks for it if the URL has a user and no password.',
  },
}

/**
 * Parses the camera URL in `text`, or on standard input for `-`. If the URL has a user without a password, the password
 * is read from standard input or asked for. At the prompt it may be empty.
 */
export async function readCameraUrl<U extends CameraUrl = CameraUrl>(
  { switches, terminal }: SecretCall,
  command: Command,
  text: string,
  parse: (text: string) => U = parseCameraUrl as (text: string) => U,
): Promise<U> {
  const isPiped = switches.has('password-stdin')
  if (text === '-') {
    if (isPiped)
      throw new UsageError('- and --password-stdin cannot be used together: both read standard input', command)
    return parse(await readPiped(terminal))
  }
  const source = parse(text)
  if (source.password !== null && source.password !== '') {
    if (isPiped) throw new UsageError('--password-stdin: the URL already has a password', command)
    warn(terminal, 'the address', '--password-stdin')
    return source
  }
  if (isPiped) {
    if (source.username === null) throw new UsageError('--password-stdin: the URL has no user', command)
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
