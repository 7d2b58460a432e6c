// Measures the memory of a server: resident memory of its process tree (proc(5)), and the memory in use after garbage
// collection, through the inspector of Node. The server runs with `--inspect-port=0` and opens the inspector on a
// signal.

import { readdirSync, readFileSync } from 'node:fs'
import process from 'node:process'
import { eventually, type ServerProcess } from '../server-under-test.ts'

/** Value of NODE_OPTIONS that allows the memory of a server to be inspected. */
export const inspectable = '--inspect-port=127.0.0.1:0'

/** MB (10^6 bytes) of the main thread after garbage collection. */
export type ServerMemory = {
  readonly residentMB: number
  readonly heapMB: number
  /** Buffers and memory that native code reports to Node. */
  readonly externalMB: number
}

export type MemoryInspector = Disposable & {
  read(): Promise<ServerMemory>
  /** A heap snapshot of the main thread after garbage collection: about 100 MB of JSON. */
  dump(): Promise<string>
}

/** Attaches to a server that has `inspectable` in its NODE_OPTIONS. */
export async function openMemoryInspector(server: ServerProcess): Promise<MemoryInspector> {
  process.kill(server.pid, 'SIGUSR1')
  const url = await eventually('the inspector of the server', 10_000, async () => {
    return /Debugger listening on (ws:\S+)/.exec(server.log())?.[1]
  })
  const socket = new WebSocket(url)
  await new Promise((resolve, reject) => {
    socket.onopen = resolve
    socket.onerror = () => reject(new Error('the inspector of the server cannot be reached'))
  })
  const waiting = new Map<number, PromiseWithResolvers<{ result?: { value?: unknown } }>>()
  let chunks: string[] = []
  socket.onmessage = ({ data }) => {
    const { id, method, params, result } = JSON.parse(String(data))
    if (method === 'HeapProfiler.addHeapSnapshotChunk') chunks.push(params.chunk)
    waiting.get(id)?.resolve(result)
    waiting.delete(id)
  }
  let last = 0
  let isOpen = true
  socket.onclose = () => {
    isOpen = false
    for (const each of waiting.values()) each.reject(new Error('the inspector of the server disconnected'))
  }
  const ask = (method: string, params: object = {}) => {
    if (!isOpen) throw new Error('the inspector of the server disconnected')
    const answer = Promise.withResolvers<{ result?: { value?: unknown } }>()
    waiting.set(++last, answer)
    socket.send(JSON.stringify({ id: last, method, params }))
    return answer.promise
  }
  /** The second collection frees what finalizers of the first released. */
  const collect = async () => {
    for (let i = 0; i < 2; i++) await ask('HeapProfiler.collectGarbage')
  }
  return {
    async read() {
      await collect()
      const { result } = await ask('Runtime.evaluate', {
        expression: 'process.memoryUsage()',
        returnByValue: true,
      })
      const { rss, heapUsed, external } = result!.value as NodeJS.MemoryUsage
      return { residentMB: rss / 1e6, heapMB: heapUsed / 1e6, externalMB: external / 1e6 }
    },
    async dump() {
      await collect()
      chunks = []
      await ask('HeapProfiler.takeHeapSnapshot')
      return chunks.splice(0).join('')
    },
    [Symbol.dispose]() {
      socket.close()
    },
  }
}

export type TreeMemory = {
  readonly totalMB: number
  /** By program: `main` or the name of the program. */
  readonly byProgram: { readonly [program: string]: number }
}

/** Resident memory of a process and all its descendants; shared memory is counted once. */
export function readTreeMemory(pid: number): TreeMemory {
  const byProgram: { [program: string]: number } = {}
  let totalMB = 0
  for (const each of listTree(pid)) {
    try {
      const { rollup, command } = readProcess(each)
      const ownMB = (Number(/^Pss:\s+(\d+) kB/m.exec(rollup)?.[1] ?? 0) * 1024) / 1e6
      const program = each === pid ? 'main' : (/([\w-]+)-process\.ts/.exec(command)?.[1] ?? 'other')
      byProgram[program] = (byProgram[program] ?? 0) + ownMB
      totalMB += ownMB
    } catch {
      // The process has ended.
    }
  }
  return { totalMB, byProgram }
}

function readProcess(pid: number): { rollup: string; command: string } {
  const [rollup, command] = ['smaps_rollup', 'cmdline'].map((name) => readFileSync(`/proc/${pid}/${name}`, 'latin1'))
  return { rollup: rollup!, command: command! }
}

function listTree(root: number): number[] {
  const children = new Map<number, number[]>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      // The program name in parentheses may contain any character.
      const [, parent] = /^.*\) \S (\d+) /s.exec(readFileSync(`/proc/${name}/stat`, 'latin1'))!
      children.set(Number(parent), [...(children.get(Number(parent)) ?? []), Number(name)])
    } catch {
      // The process has ended.
    }
  }
  const tree = [root]
  for (let i = 0; i < tree.length; i++) tree.push(...(children.get(tree[i]!) ?? []))
  return tree
}
