// nightjar node …: the servers of a PostgreSQL database.

import { AppError } from '../base/error.ts'
import type { Config } from '../config.ts'
import { writeTime } from '../model/time.ts'
import { isPostgresUrl } from '../store/postgres/postgres-url.ts'
import type { Node } from '../store/server/nodes.ts'
import type { Store } from '../store/store.ts'
import type { Command } from './command.ts'
import { serverOptions } from './help.ts'
import { withStore } from './open-data.ts'
import { writeTable } from './table.ts'

const options = { database: serverOptions.database!, 'secret-key-file': serverOptions['secret-key-file']! }

const nodeList: Command = {
  name: 'node list',
  summary: 'List the servers of a PostgreSQL database, and those that were there in the last day.',
  positionals: [],
  options,
  run: ({ config }) =>
    withNodes(config, async (store) => {
      const nodes = await store.nodes.list()
      const rows = nodes.map((node) => [
        node.name,
        node.isAlive ? 'answers' : `gone since ${writeTime(node.expiresMs)}`,
        node.hasCameras ? 'yes' : 'no',
        node.address ?? '',
        node.version,
        writeTime(node.startedMs),
        node.holder,
      ])
      const titles = ['NAME', 'STATE', 'CAMERAS', 'PEER ADDRESS', 'VERSION', 'STARTED', 'RUNS']
      return { json: { nodes: nodes.map(describeNode) }, text: writeTable(titles, rows, 'No server is running.') }
    }),
}

const nodeRemove: Command = {
  name: 'node remove',
  summary: 'Forget a server that is gone. It is forgotten by itself a day later.',
  positionals: ['NAME'],
  options,
  run: ({ config, positionals }) =>
    withNodes(config, async (store) => {
      const [name] = positionals
      const node = (await store.nodes.list()).find((each) => each.name === name)
      if (!node) throw new AppError('not_found', `there is no server ${name}; see: nightjar node list`)
      if (node.isAlive) throw new AppError('conflict', `${name} is running; stop it first`)
      await store.nodes.remove(node)
      return { json: describeNode(node), text: `Forgot ${name}.` }
    }),
}

export const nodeCommands: readonly Command[] = [nodeList, nodeRemove]

function withNodes<T>(config: Config, work: (store: Store) => Promise<T>): Promise<T> {
  if (isPostgresUrl(config.database)) return withStore(config, work)
  throw new AppError(
    'conflict',
    'a database in a file has one server; several need PostgreSQL: name it with --database',
  )
}

function describeNode({ name, isAlive, hasCameras, address, version, startedMs, expiresMs, holder }: Node) {
  return {
    ...{ name, is_alive: isAlive, has_cameras: hasCameras, peer_address: address, version, holder },
    ...{ started_at: writeTime(startedMs), expires_at: writeTime(expiresMs) },
  }
}
