// What waits, taken out fairly: clients take turns, whatever each of them has waiting; and so do the connections of one
// client, since many people may share an address.

export class FairQueue<T> {
  /** Whose turn it is next comes first. */
  readonly #clients = new Map<string, Map<unknown, T[]>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  add(client: string, connection: unknown, item: T): void {
    let connections = this.#clients.get(client)
    if (!connections) this.#clients.set(client, (connections = new Map()))
    const items = connections.get(connection)
    if (items) items.push(item)
    else connections.set(connection, [item])
    this.#size++
  }

  /** Undefined when nothing waits. */
  take(): T | undefined {
    for (const [client, connections] of this.#clients) {
      const item = takeFirst(connections)
      this.#clients.delete(client)
      if (connections.size > 0) this.#clients.set(client, connections)
      this.#size--
      return item
    }
    return undefined
  }
}

function takeFirst<T>(connections: Map<unknown, T[]>): T | undefined {
  for (const [connection, items] of connections) {
    const item = items.shift()
    connections.delete(connection)
    if (items.length > 0) connections.set(connection, items)
    return item
  }
  return undefined
}
