// nightjar doctor: checks what this system offers, as the calling user. It needs neither a server nor data.

import { type Protection, protections } from '../../contract/protections.ts'
import { writeIsolation } from '../api/answers/isolation.ts'
import type { IsolationReport } from '../decoder/isolation/isolation.ts'
import type { Command } from './command.ts'
import { serverOptions } from './help.ts'

export const doctorCommand: Command = {
  name: 'doctor',
  summary:
    'Check how well the decoder processes can be isolated on this system, and how to improve it. Run it as the user that runs the server.',
  positionals: [],
  options: { isolation: serverOptions.isolation! },
  async run({ config }) {
    const { openIsolation } = await import('../decoder/isolation/open-isolation.ts')
    const mode = config.isolation === 'off' ? 'off' : 'auto'
    const { report } = await openIsolation({ mode })
    return {
      json: { decoder_isolation: writeIsolation(report) },
      text: describe(report),
      isFailure: report.level !== 'full',
    }
  },
}

const words: { readonly [name in Protection]: string } = {
  network: 'no network',
  files: 'no files but those of the decoder itself, and none to write',
  processes: 'no other processes, neither seen nor started',
  system_calls: 'a filter of system calls',
  memory: 'a limit of memory, of open files and of what is written',
  threads: 'a limit of threads',
  privileges: 'no rights of root, and no way to them',
  permission_model: "Node's permission model, which holds JavaScript but not native code",
}

const levels = { full: 'isolated', partial: 'isolated in part', off: 'not isolated' } as const

function describe({ level, inForce, reason, advice }: IsolationReport): string {
  return [
    `Processes that decode are ${levels[level]}:`,
    ...protections.map((name) => `  ${inForce.includes(name) ? 'yes' : 'NO '}  ${words[name]}`),
    ...(reason === undefined ? [] : [`Why: ${reason}`]),
    ...(advice === undefined ? [] : [`To get more: ${advice}`]),
  ].join('\n')
}
